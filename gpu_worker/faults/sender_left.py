"""A rank sends without waiting for its handle, and leaves: the receiver is told that its peer closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, NoParams, Trial, params_of, rank_of
from gpu_worker.specs import Fault, Setting

ID = "sender-left"


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    if rank_of(setting, fault) == 0:
        raise BadSpec(f"fault {ID}: rank 0 receives; name a rank that sends, from rank:1")
    return _watched.slip("leave-sending", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """This rank left while its send was not complete, and rank 0, which received, failed."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    rank = _watched.place_rank(fault, raw)
    left = [one for one in _watched.events(raw, "left") if one["rank"] == rank]
    if not left or left[0]["sent"] or 0 not in _watched.failed_ranks(raw):
        raise FaultDidNotFire(f"rank {rank} should have left its send unfinished: {left}, {_watched.kinds(raw)}")
    return {"sent": False, "ends": list(_watched.kinds(raw))}


FAULT = _watched.fault_of_rank(
    id=ID,
    title="The sender left",
    description="One rank hands over its results, does not wait until they are sent, and its process ends.",
    params=NoParams,
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:1"),
)
