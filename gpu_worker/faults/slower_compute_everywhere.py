"""Every rank computes on a slow path: double precision and attention that is not fused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "slower-compute-everywhere"


class KernelParams(Params):
    blocks: int = Field(
        default=4,
        ge=1,
        le=4,
        description="blocks of the model that run on the slow path",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(job={"slow_blocks": params_of(KernelParams, fault).blocks})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank counted products in double precision: four a block in the forward pass, and again in the backward."""
    if not trained(raw):
        return NOT_EXERCISED
    steps = raw["job"]["measured_steps"]
    made = [rank["computed"].get("double_products", 0) / steps for rank in raw["ranks"]]
    if min(made) < 4 * params_of(KernelParams, fault).blocks:
        raise FaultDidNotFire(f"every rank should compute in double precision, but they made {made} products a step")
    return {"double_products_a_step": round(min(made))}


FAULT = FaultKind(
    id=ID,
    title="Slower kernels on every rank",
    description="Products run in double precision and attention step by step, on every rank alike.",
    place_kind="none",
    params=KernelParams,
    plan=plan,
    fired=fired,
    shows=("synthetic-batch",),
    spares=("per-rank-step-times", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
