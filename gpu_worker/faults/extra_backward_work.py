"""One rank computes more in its backward pass than its peers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, rank_of, trained
from gpu_worker.specs import Fault, Setting

ID = "extra-backward-work"


class ExtraParams(Params):
    products: int = Field(
        default=120,
        ge=1,
        le=1000,
        description="products more in the backward pass of each block",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    rank = rank_of(setting, fault)
    return Changes(rank_job={rank: {"extra_backward": params_of(ExtraParams, fault).products}})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """That rank, and no other, counted products that only its backward pass makes."""
    rank = rank_of(Setting.model_validate(raw["setting"]), fault)
    if not trained(raw, rank):
        return NOT_EXERCISED
    made = [one["computed"].get("extra_products", 0) for one in raw["ranks"]]
    if not made[rank] or sum(made) != made[rank]:
        raise FaultDidNotFire(f"rank {rank} alone should compute more, but by rank there were {made} products more")
    return {"products_a_step": made[rank] / raw["job"]["measured_steps"]}


FAULT = FaultKind(
    id=ID,
    title="Extra work in one rank's backward pass",
    description="One rank multiplies each block's gradient by a weight more often than it has to.",
    place_kind="rank",
    params=ExtraParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times", "collective-arrivals"),
    spares=("host-telemetry", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
