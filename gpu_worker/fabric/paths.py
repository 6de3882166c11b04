"""Which links each flow of the ring takes: known from the plan within a leaf, else from byte counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpu_worker.errors import RunFailed
from gpu_worker.fabric.build import Fabric
from gpu_worker.fabric.plan import FABRIC_INTERFACE, LOOPBACK_INTERFACE, FabricPlan
from gpu_worker.ranks.body import TOUCH_BYTES

if TYPE_CHECKING:
    from gpu_worker.launcher.conductor import Ranks


@dataclass(frozen=True)
class Path:
    """The links that the flow from one rank to its neighbour in the ring takes; `known` once they are certain."""

    source: int
    target: int
    via: tuple[str, ...] = ()
    known: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"src_rank": self.source, "dst_rank": self.target, "via": list(self.via)}


def static_paths(plan: FabricPlan, hosts: Sequence[int], interface: str) -> list[Path]:
    """The ring's flows with the links of those that have no choice of path: gloo's ring sends from rank r to r - 1."""
    size = len(hosts)
    flows = [Path(rank, (rank - 1) % size) for rank in range(size)] if size > 1 else []
    return [_static(plan, flow, hosts[flow.source], hosts[flow.target], interface) for flow in flows]


def _static(plan: FabricPlan, flow: Path, source: int, target: int, interface: str) -> Path:
    if source == target or interface == LOOPBACK_INTERFACE:
        return replace(flow, known=True)
    kind = "access" if interface == FABRIC_INTERFACE else "management"
    own = {cable.a.node: cable.id for cable in plan.cables if cable.kind == kind}
    ends = (own[f"host{source}"], own[f"host{target}"])
    homes = plan.leaf_of[source], plan.leaf_of[target]
    if kind == "management" or homes[0] == homes[1]:
        return replace(flow, via=ends, known=True)
    up, down = (
        [c.id for c in plan.cables if c.kind == "uplink" and c.a.node == switch] for switch in _switches(plan, ends)
    )
    only_way = len(up) == len(down) == 1
    return replace(flow, via=(ends[0], *up, *down, ends[1]) if only_way else ends, known=only_way)


def _switches(plan: FabricPlan, access: Sequence[str]) -> list[str]:
    """The switch at the far end of each access link."""
    return [plan.cable(link).b.node for link in access]


def shared_uplinks(plan: FabricPlan, paths: Sequence[Path]) -> set[tuple[str, str]]:
    """(link, end where it enters) of each uplink direction that carries more than one flow."""
    uplinks = {cable.id for cable in plan.cables if cable.kind == "uplink"}
    used = Counter(
        (link, "up" if number == 1 else "down")
        for path in paths
        for number, link in enumerate(path.via)
        if link in uplinks
    )
    return {direction for direction, flows in used.items() if flows > 1}


def are_as_wanted(plan: FabricPlan, paths: Sequence[Path], must_cross: Sequence[str], *, collide: bool) -> bool:
    """Whether the ring's flows keep apart (or two of them share an uplink, where that is wanted) and cross the links
    that they must: where two share, the links that they share."""
    collisions = shared_uplinks(plan, paths)
    crossed = {link for link, _ in collisions} if collide else {link for path in paths for link in path.via}
    return bool(collisions) is collide and crossed >= set(must_cross)


class PathFinder:
    """Sends a burst along one flow at a time and sees which uplinks' counters rise by it."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._routers = {node.name for node in fabric.plan.nodes if node.kind == "router"}

    def find(self, flow: Path, hosts: Sequence[int], ranks: Ranks) -> Path:
        """The flow with its two uplinks between the access links. Raises RunFailed where the counters are unclear."""
        leaf_of = self._fabric.plan.leaf_of
        before = self._fabric.counters(self._routers)
        ranks.order("touch", flow.source, flow.target, source=flow.source, target=flow.target)
        ranks.gather("touched", flow.source, flow.target)
        after = self._fabric.counters(self._routers)
        risen = {name for name in after if after[name]["bytes"] - before[name]["bytes"] > TOUCH_BYTES // 2}
        up = [n for n in risen if n.startswith(f"leaf{leaf_of[hosts[flow.source]]}->spine")]
        down = [n for n in risen if n.endswith(f"->leaf{leaf_of[hosts[flow.target]]}") and n.startswith("spine")]
        if len(up) != 1 or len(down) != 1:
            raise RunFailed(
                f"the counters do not show one path from rank {flow.source} to {flow.target}: {sorted(risen)}"
            )
        leaf, spine = up[0].split("->")
        spine_down, leaf_down = down[0].split("->")
        first, last = flow.via
        return replace(flow, via=(first, f"{leaf}-{spine}", f"{leaf_down}-{spine_down}", last), known=True)
