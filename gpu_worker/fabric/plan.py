"""What a fabric consists of, decided purely: nodes, cables with a rate a direction, addresses and routes.

`plan_fabric(topology, rates)` makes a `FabricPlan`; `gpu_worker.fabric.build.Fabric` is the one place that applies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gpu_worker.errors import BadSpec
from gpu_worker.specs import Topology

NodeKind = Literal["host", "router", "bridge"]
CableKind = Literal["access", "uplink", "management"]

FABRIC_INTERFACE = "fabric0"
MANAGEMENT_INTERFACE = "mgmt0"
LOOPBACK_INTERFACE = "lo"
FABRIC_SUBNET = "10.37.0.0/16"
MAX_HOSTS = 64
# At 64 kB or less a healthy ring falls to half its rate: offloaded segments of 64 kB wait for a whole bucket.
BURST_BYTES = 256_000
MAX_SPINES = 8


@dataclass(frozen=True)
class Node:
    """A network namespace: a host, a router that forwards, or a bridge that switches."""

    name: str
    kind: NodeKind


@dataclass(frozen=True)
class Port:
    """One end of a cable: an interface of a node. `address` is `a.b.c.d/len`; "" for a bridge's port."""

    node: str
    interface: str
    address: str
    rate: int  # bits/s leaving this port


@dataclass(frozen=True)
class Cable:
    """Two ports, joined. `nominal` is the rate in bits/s that both directions are sold at."""

    id: str
    kind: CableKind
    a: Port
    b: Port
    nominal: int


@dataclass(frozen=True)
class Route:
    """At `node`, packets to `destination` leave by one of `gateways`, chosen by the hash of their flow."""

    node: str
    destination: str
    gateways: tuple[str, ...]


@dataclass(frozen=True)
class FabricPlan:
    nodes: tuple[Node, ...]
    cables: tuple[Cable, ...]
    routes: tuple[Route, ...]
    leaf_of: tuple[int, ...]  # leaf or node index of each host; 0 for all hosts of a flat fabric

    @property
    def hosts(self) -> int:
        return len(self.leaf_of)

    def cable(self, link: str) -> Cable:
        """The cable called `link`. Raises BadSpec that names the cables there are."""
        for cable in self.cables:
            if cable.id == link:
                return cable
        raise BadSpec(f"there is no link {link}; this fabric has {', '.join(c.id for c in self.cables)}")

    def address(self, host: int, interface: str) -> str:
        """The address of a host's interface, without its prefix length."""
        if interface == LOOPBACK_INTERFACE:
            return "127.0.0.1"
        for cable in self.cables:
            for port in (cable.a, cable.b):
                if port.node == f"host{host}" and port.interface == interface:
                    return port.address.split("/")[0]
        raise BadSpec(f"host{host} has no interface {interface}")


def plan_fabric(
    topology: Topology, rates: Mapping[str, int] | None = None, oneway: Mapping[str, int] | None = None
) -> FabricPlan:
    """The fabric of a topology, with the rate of some links set otherwise: `rates` by link (id -> bits/s, both
    directions), `oneway` by direction (`host0->leaf0` -> bits/s).

    Raises BadSpec for a size that cannot be built or a link that does not exist.
    """
    _check_size(topology)
    plan = {"leaf-spine": _leaf_spine, "flat": _flat, "two-tier": _two_tier}[topology.kind](topology)
    for link, rate in (rates or {}).items():
        plan = _with_rate(plan, link, rate)
    for name, rate in (oneway or {}).items():
        plan = _with_oneway_rate(plan, name, rate)
    return plan


def far_leaf(topology: Topology) -> int | None:
    """Index of the leaf behind slow uplinks; None where the topology has none."""
    return topology.leaves - 1 if topology.kind == "leaf-spine" and topology.leaves > 1 else None


def host_count(topology: Topology) -> int:
    if topology.kind == "leaf-spine":
        return topology.leaves * topology.hosts_per_leaf
    return topology.nodes * topology.hosts_per_node if topology.kind == "two-tier" else topology.hosts


def leaf_of_host(topology: Topology, host: int) -> int:
    """Index of the host's leaf, or of its node; 0 in a flat fabric."""
    if topology.kind == "leaf-spine":
        return host // topology.hosts_per_leaf
    return host // topology.hosts_per_node if topology.kind == "two-tier" else 0


def from_dict(data: Mapping[str, Any]) -> FabricPlan:
    """A plan back from `dataclasses.asdict`, as it travels to the launcher."""
    return FabricPlan(
        nodes=tuple(Node(**n) for n in data["nodes"]),
        cables=tuple(Cable(c["id"], c["kind"], Port(**c["a"]), Port(**c["b"]), c["nominal"]) for c in data["cables"]),
        routes=tuple(Route(r["node"], r["destination"], tuple(r["gateways"])) for r in data["routes"]),
        leaf_of=tuple(data["leaf_of"]),
    )


def at_nominal_rates(plan: FabricPlan) -> FabricPlan:
    """The plan with every link at the rate that it was sold at."""
    return replace(plan, cables=tuple(_at_rate(cable, cable.nominal) for cable in plan.cables))


def same_but_rates(one: FabricPlan, other: FabricPlan) -> bool:
    """Whether two fabrics differ in the rates of their links at most, which can be set while they stand."""
    return _rateless(one) == _rateless(other)


def _rateless(plan: FabricPlan) -> FabricPlan:
    return replace(plan, cables=tuple(replace(_at_rate(cable, 0), nominal=0) for cable in plan.cables))


def _at_rate(cable: Cable, rate: int) -> Cable:
    return replace(cable, a=replace(cable.a, rate=rate), b=replace(cable.b, rate=rate))


def direction(source: Port, target: Port) -> str:
    """The name of one direction of a cable, `host0->leaf0`."""
    return f"{source.node}->{target.node}"


def directions(cables: Iterable[Cable]) -> list[tuple[str, Port, Cable]]:
    """(name, the port that sends, cable) of both directions of each cable."""
    return [
        (direction(source, target), source, cable)
        for cable in cables
        for source, target in ((cable.a, cable.b), (cable.b, cable.a))
    ]


def _check_size(topology: Topology) -> None:
    hosts = host_count(topology)
    if not 1 <= hosts <= MAX_HOSTS:
        raise BadSpec(f"a fabric has 1 to {MAX_HOSTS} hosts, not {hosts}")
    if topology.kind == "leaf-spine" and not 1 <= topology.spines <= MAX_SPINES:
        raise BadSpec(f"a leaf-spine fabric has 1 to {MAX_SPINES} spines, not {topology.spines}")
    for name in ("link_rate", "far_uplink_rate", "management_rate", "inside_rate"):
        rate = getattr(topology, name)
        if not 1_000_000 <= rate <= 10_000_000_000:
            raise BadSpec(f"{name} is {rate} bit/s; the lab shapes 1 Mbit/s to 10 Gbit/s")


def _leaf_spine(topology: Topology) -> FabricPlan:
    leaves, spines, hosts = range(topology.leaves), range(topology.spines), range(host_count(topology))
    leaf_of = tuple(leaf_of_host(topology, host) for host in hosts)
    nodes = [Node(f"host{h}", "host") for h in hosts]
    nodes += [Node(f"leaf{leaf}", "router") for leaf in leaves] + [Node(f"spine{s}", "router") for s in spines]
    access = [_access_cable(h, f"leaf{leaf_of[h]}", topology.link_rate) for h in hosts]
    uplinks = [_uplink_cable(topology, leaf, spine) for leaf in leaves for spine in spines]
    nodes.append(Node("mgmt", "bridge"))
    return FabricPlan(
        nodes=tuple(nodes),
        cables=(*access, *uplinks, *_management_cables(topology)),
        routes=_leaf_spine_routes(topology, leaf_of),
        leaf_of=leaf_of,
    )


def _flat(topology: Topology) -> FabricPlan:
    hosts = range(topology.hosts)
    nodes = [Node(f"host{h}", "host") for h in hosts] + [Node("switch", "bridge"), Node("mgmt", "bridge")]
    rate = topology.link_rate
    access = [
        Cable(
            f"host{h}-switch",
            "access",
            Port(f"host{h}", FABRIC_INTERFACE, f"10.37.0.{h + 1}/16", rate),
            Port("switch", f"host{h}", "", rate),
            rate,
        )
        for h in hosts
    ]
    return FabricPlan(tuple(nodes), (*access, *_management_cables(topology)), (), tuple(0 for _ in hosts))


def _two_tier(topology: Topology) -> FabricPlan:
    hosts, names = range(host_count(topology)), [f"node{n}" for n in range(topology.nodes)]
    node_of = tuple(leaf_of_host(topology, host) for host in hosts)
    nodes = [Node(f"host{h}", "host") for h in hosts] + [Node(name, "router") for name in names]
    inside = [_access_cable(h, names[node_of[h]], topology.inside_rate) for h in hosts]
    across = [
        _routed_cable(name, "core0", f"10.38.{at * MAX_SPINES}", topology.link_rate) for at, name in enumerate(names)
    ]
    return FabricPlan(
        nodes=(*nodes, Node("core0", "router"), Node("mgmt", "bridge")),
        cables=(*inside, *across, *_management_cables(topology)),
        routes=_two_tier_routes(node_of),
        leaf_of=node_of,
    )


def _two_tier_routes(node_of: tuple[int, ...]) -> tuple[Route, ...]:
    routes = [Route(f"host{h}", FABRIC_SUBNET, (f"10.37.{h}.1",)) for h in range(len(node_of))]
    for host, home in enumerate(node_of):
        subnet = f"10.37.{host}.0/30"
        routes.append(Route("core0", subnet, (f"10.38.{home * MAX_SPINES}.1",)))
        others = set(node_of) - {home}
        routes += [Route(f"node{node}", subnet, (f"10.38.{node * MAX_SPINES}.2",)) for node in sorted(others)]
    return tuple(routes)


def _access_cable(host: int, leaf: str, rate: int) -> Cable:
    return Cable(
        f"host{host}-{leaf}",
        "access",
        Port(f"host{host}", FABRIC_INTERFACE, f"10.37.{host}.2/30", rate),
        Port(leaf, f"host{host}", f"10.37.{host}.1/30", rate),
        rate,
    )


def _uplink_cable(topology: Topology, leaf: int, spine: int) -> Cable:
    rate = topology.far_uplink_rate if leaf == far_leaf(topology) else topology.link_rate
    return _routed_cable(f"leaf{leaf}", f"spine{spine}", f"10.38.{leaf * MAX_SPINES + spine}", rate)


def _routed_cable(low: str, high: str, subnet: str, rate: int) -> Cable:
    """An uplink between two routers; each calls its port by the other's name."""
    ends = Port(low, high, f"{subnet}.1/30", rate), Port(high, low, f"{subnet}.2/30", rate)
    return Cable(f"{low}-{high}", "uplink", *ends, rate)


def _management_cables(topology: Topology) -> list[Cable]:
    rate = topology.management_rate
    return [
        Cable(
            f"host{h}-mgmt",
            "management",
            Port(f"host{h}", MANAGEMENT_INTERFACE, f"10.39.0.{h + 1}/24", rate),
            Port("mgmt", f"host{h}", "", rate),
            rate,
        )
        for h in range(host_count(topology))
    ]


def _leaf_spine_routes(topology: Topology, leaf_of: tuple[int, ...]) -> tuple[Route, ...]:
    routes = [Route(f"host{h}", FABRIC_SUBNET, (f"10.37.{h}.1",)) for h in range(len(leaf_of))]
    for host, home in enumerate(leaf_of):
        subnet = f"10.37.{host}.0/30"
        for leaf in range(topology.leaves):
            if leaf != home:
                up = tuple(f"10.38.{leaf * MAX_SPINES + spine}.2" for spine in range(topology.spines))
                routes.append(Route(f"leaf{leaf}", subnet, up))
        for spine in range(topology.spines):
            routes.append(Route(f"spine{spine}", subnet, (f"10.38.{home * MAX_SPINES + spine}.1",)))
    return tuple(routes)


def _with_rate(plan: FabricPlan, link: str, rate: int) -> FabricPlan:
    """The plan with both directions of one cable at another rate; its nominal rate stays what it was sold as."""
    new = _at_rate(plan.cable(link), rate)
    return replace(plan, cables=tuple(new if c.id == link else c for c in plan.cables))


def _with_oneway_rate(plan: FabricPlan, name: str, rate: int) -> FabricPlan:
    """The plan with one direction of a cable at another rate."""
    for cable in plan.cables:
        if name == direction(cable.a, cable.b):
            new = replace(cable, a=replace(cable.a, rate=rate))
        elif name == direction(cable.b, cable.a):
            new = replace(cable, b=replace(cable.b, rate=rate))
        else:
            continue
        return replace(plan, cables=tuple(new if c.id == cable.id else c for c in plan.cables))
    raise BadSpec(f"there is no direction {name}; write it as host0->leaf0")
