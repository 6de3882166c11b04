"""The job stops in the middle of every step to sum metrics over all ranks and read them on the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import (
    NOT_EXERCISED,
    Changes,
    FaultKind,
    Params,
    each_step,
    params_of,
    refuse_place,
    trained,
)
from gpu_worker.specs import Fault, Setting

ID = "per-step-sync"


class SyncParams(Params):
    reads: int = Field(
        default=240,
        ge=1,
        le=400,
        description="metrics a step that are summed over all ranks and read at once",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(job={"blocking_reads": params_of(SyncParams, fault).reads})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every step of every rank held that many collectives of a single number, each after the one before had ended."""
    if not trained(raw):
        return NOT_EXERCISED
    wanted = params_of(SyncParams, fault).reads * raw["job"]["accumulation"]
    seen = {sum(one.get("what") == "metric" for one in step["collectives"]) for step in each_step(raw)}
    if seen != {wanted}:
        raise FaultDidNotFire(f"a step should read {wanted} metrics, but they read {sorted(seen)}")
    blocked = [_blocked_s(step) for step in each_step(raw)]
    return {"reads_a_step": wanted, "blocked_s_a_step": round(sum(blocked) / len(blocked), 4)}


def _blocked_s(step: Mapping[str, Any]) -> float:
    return sum(one["done"] - one["launch"] for one in step["collectives"] if one.get("what") == "metric")


FAULT = FaultKind(
    id=ID,
    title="Synchronisation in every step",
    description="Behind each block, forward and backward, metrics are summed over all ranks and read on the host.",
    place_kind="none",
    params=SyncParams,
    plan=plan,
    fired=fired,
    shows=("bucket-sizes",),
    spares=("per-rank-step-times", "input-timings", "microbenchmark[placement=as-job,size=job]"),
)
