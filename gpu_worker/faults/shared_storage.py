"""Several hosts read their documents through one store, whose bandwidth they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "shared-storage"
TOLERANCE = 0.2


class StorageParams(Params):
    bytes_per_s: float = Field(
        default=450e3,
        ge=20e3,
        le=10e6,
        description="what the store delivers to all of them together",
        json_schema_extra={"unit": "B/s", "kind": "byte-rate"},
    )
    hosts: int = Field(
        default=4,
        ge=2,
        le=16,
        description="hosts that read through it, from rank 0 on",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params, ranks = params_of(StorageParams, fault), len(setting.placement)
    if params.hosts > ranks:
        raise BadSpec(f"fault {ID}: hosts is {params.hosts}, but the job has {ranks} of them")
    return Changes(shared_sources={tuple(range(params.hosts)): params.bytes_per_s})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """While any of them waited for documents, they got no more together than the store delivers, and about as much."""
    if not trained(raw):
        return NOT_EXERCISED
    params = params_of(StorageParams, fault)
    steps = [step for rank in raw["ranks"][: params.hosts] for step in rank["steps"]]
    waited_s = _covered_s([(step["start"], step["start"] + step["input_s"]) for step in steps])
    observed = sum(step["input_bytes"] for step in steps) / max(waited_s, 1e-9)
    if abs(observed - params.bytes_per_s) > TOLERANCE * params.bytes_per_s:
        raise FaultDidNotFire(
            f"the store should deliver {params.bytes_per_s:.0f} B/s, but delivered {observed:.0f} B/s"
        )
    return {"observed_bytes_per_s": round(observed)}


def _covered_s(intervals: Sequence[tuple[float, float]]) -> float:
    """Seconds that the union of the intervals covers."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(intervals):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


FAULT = FaultKind(
    id=ID,
    title="Shared slow storage",
    description="The stores of several hosts share one budget of bytes a second, as mounts of one file system do.",
    place_kind="none",
    params=StorageParams,
    plan=plan,
    fired=fired,
    shows=("synthetic-batch",),
    spares=("bucket-sizes", "host-telemetry", "microbenchmark[placement=as-job,size=job]"),
)
