"""Two ranks that are no neighbours in the ring share the link of one host, so that it carries twice what others do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults._links import access_cable, ways_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, Trial, params_of, rank_of
from gpu_worker.specs import Fault, Setting

ID = "two-behind-one-link"
LEAST_RANKS = 4
# The link carries the flows of two ranks each way: twice what the link of a rank alone does.
TWICE, TOLERANCE = 2.0, 0.25


def moved(setting: Setting, fault: Fault) -> tuple[int, ...]:
    """The placement with the rank on the host of the rank after its neighbour. Raises BadSpec.

    Neighbours on one host would talk inside it, and the link would carry no more than before.
    """
    ranks, rank = len(setting.placement), rank_of(setting, fault)
    if ranks < LEAST_RANKS:
        raise BadSpec(f"fault {ID} needs {LEAST_RANKS} ranks or more: of {ranks}, any two are neighbours in the ring")
    host = setting.placement[(rank + 2) % ranks]
    return tuple(host if r == rank else at for r, at in enumerate(setting.placement))


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    placement = moved(setting, fault)
    return Changes(placement=placement, must_cross=(access_cable(setting, shared_host(placement)).id,))


def shared_host(placement: tuple[int, ...]) -> int:
    return next(host for host in placement if placement.count(host) > 1)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By the kernel's counters the link carried, each way, twice what the links of the other ranks' hosts did."""
    setting = Setting.model_validate(raw["setting"])
    placement = tuple(raw["placement"])
    if raw["packed"] or raw["interface"] != "fabric" or placement != moved(setting, fault):
        return NOT_EXERCISED
    host = shared_host(placement)
    carried = {at: _carried(raw, access_cable(setting, at)) for at in set(placement)}
    alone = sorted(bytes for at, bytes in carried.items() if at != host)
    ratio = carried[host] / max(alone[len(alone) // 2], 1)
    if abs(ratio - TWICE) > TOLERANCE * TWICE:
        raise FaultDidNotFire(
            f"the link of host{host} should carry twice what others do, but carried {ratio:.2f} times"
        )
    return {"host": host, "times_the_others": round(ratio, 2)}


def _carried(raw: Mapping[str, Any], cable: Any) -> int:
    return min(raw["counters"][way]["bytes"] for way in ways_of(cable))


FAULT = FaultKind(
    id=ID,
    title="Two ranks behind one link",
    description="One rank runs on the host of another, not its neighbour in the ring; both use that host's link.",
    place_kind="rank",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("path-map", "link-utilisation", "microbenchmark[placement=as-job,size=job]"),
    spares=("link-rates[scope=all]", "link-error-counters", "microbenchmark[placement=packed,size=job]"),
    trial=Trial(place="rank:1"),
)
