"""Every rank trains on another number of samples a step than in the healthy run."""

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

ID = "batch-changed"


class BatchParams(Params):
    samples: int = Field(
        default=16,
        ge=1,
        le=64,
        description="samples a rank a step, other than the healthy run has",
        json_schema_extra={"unit": "samples", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    wanted, healthy = params_of(BatchParams, fault).samples, setting.baseline_job.microbatch
    if wanted == healthy:
        raise BadSpec(f"fault {ID}: samples is {wanted}, but must differ from the healthy run's {healthy}")
    return Changes(job={"microbatch": wanted})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank really trained on that many samples in every step."""
    if not trained(raw):
        return NOT_EXERCISED
    return prove_samples(raw, raw["job"]["microbatch"] * raw["job"]["accumulation"])


FAULT = FaultKind(
    id=ID,
    title="A changed batch",
    description="Every rank trains on another number of samples a step than in the healthy run.",
    place_kind="none",
    params=BatchParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity",),
    spares=("per-rank-step-times", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
