"""One rank runs on a host of the far leaf, behind slower uplinks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import far_leaf, host_count, leaf_of_host
from gpu_worker.faults.base import Changes, FaultKind, NoParams, params_of, rank_of
from gpu_worker.specs import Fault, Setting

ID = "worse-placement"


def moved(setting: Setting, fault: Fault) -> tuple[int, ...]:
    """The placement with one rank on the first free host of the far leaf. Raises BadSpec where there is none."""
    rank, far = rank_of(setting, fault), far_leaf(setting.topology)
    free = [
        host
        for host in range(host_count(setting.topology))
        if leaf_of_host(setting.topology, host) == far and host not in setting.placement
    ]
    if far is None or not free:
        raise BadSpec(f"fault {ID} needs a leaf-spine fabric with a free host on its far leaf")
    return tuple(free[0] if r == rank else host for r, host in enumerate(setting.placement))


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    return Changes(placement=moved(setting, fault))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The rank ran on the far leaf, and the ring's flows crossed its uplinks by the kernel's counters."""
    setting = Setting.model_validate(raw["setting"])
    rank, far = rank_of(setting, fault), far_leaf(setting.topology)
    if raw["packed"]:
        return {"exercised": False}
    crossed = [link for path in raw["paths"] for link in path["via"] if link.startswith(f"leaf{far}-")]
    host = raw["placement"][rank]
    # Over the management network no path leads through the far leaf's uplinks.
    if leaf_of_host(setting.topology, host) != far or (raw["interface"] == "fabric" and not crossed):
        raise FaultDidNotFire(f"rank {rank} should run behind leaf{far}, but ran on host{host} and crossed {crossed}")
    return {"host": host, "crossed": crossed}


FAULT = FaultKind(
    id=ID,
    title="A worse placement",
    description="One rank is placed on a host of the far leaf, so that the ring crosses that leaf's slower uplinks.",
    place_kind="rank",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=(
        "microbenchmark[placement=as-job,size=job]",
        "pairwise-bandwidth[scope=disjoint-pairs]",
        "placement-map",
    ),
    spares=(
        "microbenchmark[placement=packed,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-rates[scope=all]",
    ),
)
