"""The store takes a checkpoint more slowly than the library's time-out lets the other ranks wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, params_of, refuse_place
from gpu_worker.specs import Fault, Setting


class SaveParams(Params):
    bytes_per_s: float = Field(
        default=350e3,
        ge=200e3,
        le=2e6,
        description="what the store of checkpoints takes",
        json_schema_extra={"unit": "B/s", "kind": "byte-rate"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(rank_job={0: {"storage_bytes_per_s": params_of(SaveParams, fault).bytes_per_s}})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The checkpoint took longer than the time-out, and ranks that did not write failed."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    limit_s = raw["job"]["collective_timeout_s"]
    slow = [saved for saved in _watched.events(raw, "saved") if saved["seconds"] > limit_s]
    failed = [rank for rank in _watched.failed_ranks(raw) if rank != 0]
    if not slow or not failed:
        raise FaultDidNotFire(f"a save should outlast the time-out of {limit_s} s, and none did")
    return {"bytes": slow[0]["bytes"], "seconds": round(slow[0]["seconds"], 3), "failed": failed}


FAULT = FaultKind(
    id="save-slower-than-timeout",
    title="A save slower than the time-out",
    description="Rank 0 writes a checkpoint to a store that takes it slowly; its peers wait in a barrier.",
    place_kind="none",
    params=SaveParams,
    plan=plan,
    fired=fired,
    shows=_watched.SHOWS_ALL,
    trial=Trial(),
)
