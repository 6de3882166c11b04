"""Two ranks that are no neighbours in the ring share the link of one host, so that it carries twice what others do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import Cable, leaf_of_host, plan_fabric
from gpu_worker.faults._links import access_cable, ways_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, Trial, params_of, rank_of
from gpu_worker.specs import Fault, Setting

ID = "two-behind-one-link"
LEAST_RANKS = 4
# The link carries two flows of the ring each way where others carry one.
TWICE, TOLERANCE = 2.0, 0.25


def plan(setting: Setting, fault: Fault) -> Changes:
    """In a two-tier fabric the ring is made to leave a node twice; elsewhere two ranks share a host and its cable."""
    params_of(NoParams, fault)
    placement = moved(setting, fault)
    if setting.topology.kind == "two-tier":
        return Changes(placement=placement, collide=True)
    return Changes(placement=placement, must_cross=(access_cable(setting, shared_host(placement)).id,))


def moved(setting: Setting, fault: Fault) -> tuple[int, ...]:
    """The placement under the fault. Raises BadSpec where the rank cannot be put so."""
    ranks, rank = len(setting.placement), rank_of(setting, fault)
    if ranks < LEAST_RANKS:
        raise BadSpec(f"fault {ID} needs {LEAST_RANKS} ranks or more: of {ranks}, any two are neighbours in the ring")
    if setting.topology.kind == "two-tier":
        return _changed_over(setting, rank)
    # Neighbours on one host would talk inside it, and the link would carry no more than before.
    host = setting.placement[(rank + 2) % ranks]
    return tuple(host if r == rank else at for r, at in enumerate(setting.placement))


def _changed_over(setting: Setting, rank: int) -> tuple[int, ...]:
    """The rank and its neighbour in another node change places, so that the ring crosses each node's cable again."""
    placement = list(setting.placement)
    nodes = [leaf_of_host(setting.topology, host) for host in placement]
    for neighbour in ((rank + 1) % len(placement), rank - 1):
        if nodes[neighbour] != nodes[rank]:
            placement[rank], placement[neighbour] = placement[neighbour], placement[rank]
            return tuple(placement)
    raise BadSpec(f"fault {ID}: both neighbours of rank {rank} are in its own node; take a rank at the end of a node")


def shared_host(placement: tuple[int, ...]) -> int:
    return next(host for host in placement if placement.count(host) > 1)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By the kernel's counters the link carried, each way, twice what the links of the other ranks' hosts did."""
    setting = Setting.model_validate(raw["setting"])
    placement = tuple(raw["placement"])
    if raw["packed"] or raw["interface"] != "fabric" or placement != moved(setting, fault):
        return NOT_EXERCISED
    cable = _shared_cable(setting, placement)
    alone = sorted(_carried(raw, one) for one in {access_cable(setting, host) for host in placement} - {cable})
    ratio = _carried(raw, cable) / max(alone[len(alone) // 2], 1)
    if abs(ratio - TWICE) > TOLERANCE * TWICE:
        raise FaultDidNotFire(f"{cable.id} should carry twice what others do, but carried {ratio:.2f} times")
    return {"link": cable.id, "times_the_others": round(ratio, 2)}


def _shared_cable(setting: Setting, placement: tuple[int, ...]) -> Cable:
    if setting.topology.kind != "two-tier":
        return access_cable(setting, shared_host(placement))
    node = access_cable(setting, placement[0]).b.node
    return next(c for c in plan_fabric(setting.topology).cables if c.kind == "uplink" and c.a.node == node)


def _carried(raw: Mapping[str, Any], cable: Cable) -> int:
    return min(raw["counters"][way]["bytes"] for way in ways_of(cable))


FAULT = FaultKind(
    id=ID,
    title="Two ranks behind one link",
    description="Two flows of the ring leave by one cable: two ranks, no neighbours, share a host or a node's way out.",
    place_kind="rank",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("path-map", "link-utilisation", "microbenchmark[placement=as-job,size=job]"),
    spares=("link-rates[scope=all]", "link-error-counters", "microbenchmark[placement=packed,size=job]"),
    trial=Trial(place="rank:1"),
)
