"""The microbatch is smaller than in the healthy run that this one is compared with: it was physics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec
from gpu_worker.faults.base import (
    NOT_EXERCISED,
    Changes,
    FaultKind,
    Params,
    params_of,
    prove_samples,
    refuse_place,
    trained,
)
from gpu_worker.specs import Fault, Setting

ID = "comparison-changed"


class ComparisonParams(Params):
    samples: int = Field(
        default=4,
        ge=1,
        le=63,
        description="samples a rank a step, below what the healthy run has",
        json_schema_extra={"unit": "samples", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    samples, healthy = params_of(ComparisonParams, fault).samples, setting.baseline_job.microbatch
    if samples >= healthy:
        raise BadSpec(f"fault {ID}: samples is {samples}, but must be below the healthy run's {healthy}")
    return Changes(job={"microbatch": samples})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank really trained on that many samples in every step."""
    if not trained(raw):
        return NOT_EXERCISED
    return prove_samples(raw, params_of(ComparisonParams, fault).samples * raw["job"]["accumulation"])


FAULT = FaultKind(
    id=ID,
    title="A changed comparison",
    description="The microbatch is smaller than in the run that this one is compared with.",
    place_kind="none",
    params=ComparisonParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity",),
    spares=(
        "microbenchmark[placement=as-job,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-error-counters",
    ),
)
