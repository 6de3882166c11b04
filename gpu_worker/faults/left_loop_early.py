"""One rank has fewer batches and leaves its loop; the others wait for it in their next collective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    return _watched.slip("left-early", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """This rank finished with fewer steps than its peers began, and they did not finish."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    rank, steps = _watched.place_rank(fault, raw), [one["steps_done"] for one in raw["ranks"]]
    failed = _watched.failed_ranks(raw)
    if _watched.ends(raw)[rank]["how"] != "finished" or not failed:
        raise FaultDidNotFire(f"rank {rank} should have finished before its peers, who {_watched.kinds(raw)}")
    return {"steps": steps, "failed": failed}


FAULT = _watched.fault_of_rank(
    id="left-loop-early",
    title="One rank left the loop",
    description="One rank's batches run out before its peers'. It finishes; its process stays until all are done.",
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
