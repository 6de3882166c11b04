"""Two flows of the ring are hashed onto one uplink, while another lies idle: an accident of their ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.paths import Path, shared_uplinks
from gpu_worker.fabric.plan import leaf_of_host, plan_fabric
from gpu_worker.faults._links import SPARED, uplink_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, Trial, params_of
from gpu_worker.specs import Fault, Setting, Topology

ID = "path-collision"
# Ranks in turn on two leaves: each leaf sends two flows up, one for each spine where ports are good.
ALTERNATING = (0, 2, 1, 3)


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    crossings = _flows_up(setting)
    if setting.topology.kind != "leaf-spine" or max(crossings.values(), default=0) < 2:
        raise BadSpec(
            f"fault {ID} needs a leaf-spine fabric and two flows of the ring that leave one leaf: place ranks in turn "
            f"on two leaves, such as {ALTERNATING}"
        )
    return Changes(collide=True, must_cross=(uplink_of(setting, fault).id,) if fault.place else ())


def _flows_up(setting: Setting) -> dict[int, int]:
    """How many flows of the ring leave each leaf."""
    leaves = [leaf_of_host(setting.topology, host) for host in setting.placement]
    up: dict[int, int] = {}
    for rank, leaf in enumerate(leaves):
        if leaf != leaves[rank - 1]:
            up[leaf] = up.get(leaf, 0) + 1
    return up


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Two flows of the ring took one uplink the same way, by the byte counters of the burst sent along each."""
    setting = Setting.model_validate(raw["setting"])
    if raw["packed"] or raw["interface"] != "fabric":
        return NOT_EXERCISED
    paths = [Path(path["src_rank"], path["dst_rank"], tuple(path["via"])) for path in raw["paths"]]
    shared = sorted(shared_uplinks(plan_fabric(setting.topology), paths))
    if not shared:
        raise FaultDidNotFire("two flows of the ring should share an uplink, but all keep apart")
    return {"shared": [f"{link} {way}" for link, way in shared]}


FAULT = FaultKind(
    id=ID,
    title="A path collision",
    description="The ring's ports are chosen so that the fabric's hash sends two of its flows over one uplink.",
    place_kind="link",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("path-map", "link-utilisation", "microbenchmark[placement=as-job,size=job]"),
    spares=(*SPARED, "link-error-counters"),
    trial=Trial(
        setting=Setting(topology=Topology(), placement=ALTERNATING, baseline_placement=ALTERNATING),
    ),
)
