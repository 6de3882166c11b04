"""Every rank computes with more threads than it has cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place
from gpu_worker.specs import Fault, Setting

ID = "too-many-threads"


class ThreadParams(Params):
    threads: float = Field(
        default=8,
        ge=2,
        le=16,
        description="threads that each rank computes with, on its one core",
        json_schema_extra={"unit": "threads", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(job={"threads": round(params_of(ThreadParams, fault).threads)})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The library reports that many threads in each rank, and the kernel fewer cores for them."""
    if raw["experiment"] != "job":
        return NOT_EXERCISED
    told = [rank["telemetry"]["kernel"] for rank in raw["ranks"]]
    threads, cores = min(k["compute_threads"] for k in told), max(len(k["allowed_cores"]) for k in told)
    if threads != round(params_of(ThreadParams, fault).threads) or threads <= cores:
        raise FaultDidNotFire(f"each rank should compute with too many threads, but had {threads} on {cores} cores")
    return {"threads_a_rank": threads, "cores_a_rank": cores}


FAULT = FaultKind(
    id=ID,
    title="Too many threads",
    description="Each rank's library computes with several threads on the one core that the rank is bound to.",
    place_kind="none",
    params=ThreadParams,
    plan=plan,
    fired=fired,
    shows=("host-telemetry",),
    spares=("input-timings", "link-error-counters", "microbenchmark[placement=as-job,size=job]"),
)
