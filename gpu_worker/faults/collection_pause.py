"""The interpreter collects garbage in full in a large heap, on each rank in a step of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place
from gpu_worker.specs import Fault, Setting

ID = "collection-pause"


class CollectionParams(Params):
    objects: float = Field(
        default=2_000_000,
        ge=100_000,
        le=8_000_000,
        description="live containers in each rank, all walked by a full collection",
        json_schema_extra={"unit": "objects", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    """As many steps between a rank's collections as there are ranks, so that in every step one of them pauses."""
    refuse_place(fault)
    ranks = len(setting.placement)
    return Changes(
        job={"live_objects": round(params_of(CollectionParams, fault).objects), "collect_every": ranks},
        rank_job={rank: {"collect_first": rank} for rank in range(ranks)},
    )


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Each rank held the heap and paused for full collections, the ranks in different steps."""
    if raw["experiment"] != "job":
        return NOT_EXERCISED
    told = [rank["telemetry"]["kernel"] for rank in raw["ranks"]]
    if any(k["live_objects"] != round(params_of(CollectionParams, fault).objects) for k in told):
        raise FaultDidNotFire("the ranks do not hold the heap that a collection should walk")
    last = [_longest(step) for step in zip(*(rank["steps"] for rank in raw["ranks"]), strict=True)]
    paused = {rank for rank, pause_s in last if pause_s > 0}
    if len(paused) < 2:
        raise FaultDidNotFire(f"the ranks should collect in different steps, but only {sorted(paused)} paused")
    return {"ranks_that_paused": len(paused), "longest_pause_s": round(max(pause_s for _, pause_s in last), 4)}


def _longest(steps: tuple[Mapping[str, Any], ...]) -> tuple[int, float]:
    """(rank, seconds) of the longest collection in one step of all ranks."""
    return max(((rank, step["collection_s"]) for rank, step in enumerate(steps)), key=lambda pair: pair[1])


FAULT = FaultKind(
    id=ID,
    title="Collection pauses",
    description="Each rank keeps a large heap of Python objects, and full collections walk it, never in the same step.",
    place_kind="none",
    params=CollectionParams,
    plan=plan,
    fired=fired,
    shows=("collective-arrivals", "memory-by-rank"),
    spares=(
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-error-counters",
        "microbenchmark[placement=as-job,size=job]",
    ),
)
