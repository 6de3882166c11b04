"""A save with a collective inside is called on one rank alone; its barrier pairs with the others' next one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, NoParams, Trial, params_of
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    return _watched.slip("save-alone", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """This rank issued one collective more than any of its peers, who all finished."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    rank, counts = _watched.place_rank(fault, raw), []
    for one in raw["ranks"]:
        counts.append(max(_watched.issued(one), default=0))
    others = [count for number, count in enumerate(counts) if number != rank]
    if counts[rank] != max(others) + 1 or rank not in _watched.failed_ranks(raw):
        raise FaultDidNotFire(f"rank {rank} should be one collective ahead, but the recorders count {counts}")
    return {"collectives": counts, "ends": list(_watched.kinds(raw))}


FAULT = _watched.fault_of_rank(
    id="one-collective-too-many",
    title="One collective too many",
    description="One rank alone saves its best weights after the last step, with a barrier inside.",
    params=NoParams,
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:0"),
)
