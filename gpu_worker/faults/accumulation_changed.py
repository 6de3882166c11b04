"""A step adds up more or fewer microbatches before it reduces gradients than in the healthy run."""

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

ID = "accumulation-changed"


class AccumulationParams(Params):
    microbatches: int = Field(
        default=2,
        ge=1,
        le=16,
        description="microbatches a step, other than the healthy run has",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    wanted, healthy = params_of(AccumulationParams, fault).microbatches, setting.baseline_job.accumulation
    if wanted == healthy:
        raise BadSpec(f"fault {ID}: microbatches is {wanted}, but must differ from the healthy run's {healthy}")
    return Changes(job={"accumulation": wanted})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every step trained on the samples of that many microbatches and reduced its gradients once."""
    if not trained(raw):
        return NOT_EXERCISED
    return prove_samples(raw, raw["job"]["microbatch"] * raw["job"]["accumulation"])


FAULT = FaultKind(
    id=ID,
    title="Changed accumulation",
    description="A step adds up more or fewer microbatches before it reduces gradients than in the healthy run.",
    place_kind="none",
    params=AccumulationParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity",),
    spares=("per-rank-step-times", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
