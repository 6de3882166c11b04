"""Every product is made in small slices, each launched from Python: the host works between kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "launch-gaps"


class GapParams(Params):
    rows: int = Field(
        default=24,
        ge=1,
        le=400,
        description="rows of a product that one kernel makes",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(job={"rows_a_kernel": params_of(GapParams, fault).rows})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank counted the slices of its products, and they are many for each product."""
    if not trained(raw):
        return NOT_EXERCISED
    steps = raw["job"]["measured_steps"]
    slices = [rank["computed"].get("sliced_products", 0) / steps for rank in raw["ranks"]]
    if min(slices) < 1:
        raise FaultDidNotFire(f"every rank should slice its products, but they made {slices} slices a step")
    return {"slices_a_step": round(min(slices))}


FAULT = FaultKind(
    id=ID,
    title="Gaps between kernels",
    description="Products run as thousands of small kernels, each launched from Python, on every rank.",
    place_kind="none",
    params=GapParams,
    plan=plan,
    fired=fired,
    shows=("synthetic-batch",),
    spares=("per-rank-step-times", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
