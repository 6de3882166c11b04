"""Builds a FabricPlan out of anonymous network namespaces through netlink, and reads it back.

The namespaces have no names: they live as long as a descriptor or a process holds them, so that a killed run leaves
nothing to sweep.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import ip_interface
from typing import Any

from pyroute2 import IPRoute

from gpu_worker.errors import RunFailed
from gpu_worker.fabric.namespaces import enter_network, new_network
from gpu_worker.fabric.plan import BURST_BYTES, FabricPlan, Node, Port, Route, directions

# Deep enough that a window-driven sender never meets its end: in the buckets loss is a fault, not a habit.
QUEUE_BYTES = 4_000_000
# The kernel's default may be BBR, whose probing costs a healthy ring 1-2 % in one launch of four and hides loss.
# A namespace may not set the sysctl, but each route may name its own.
CONGESTION_CONTROL = {"cc_algo": "reno"}
IPV4 = "/proc/sys/net/ipv4"
PATH_REHASH = "/proc/sys/net/core/txrehash"


class Fabric:
    """A built fabric. Use as a context manager; it must be made by a process of one thread that may own networks."""

    def __init__(self, plan: FabricPlan) -> None:
        self.plan = plan
        self.namespaces: dict[str, int] = {}
        self._netlink: dict[str, IPRoute] = {}
        self._index: dict[str, dict[str, int]] = {}
        self._undo = ExitStack()
        # By port: the kernel counts a new cable's ends as having lost their carrier.
        self._born_without: dict[str, int] = {}
        # By direction: how many packets were lost on purpose, as the port's own error counter would say.
        self.lost: dict[str, Callable[[], int]] = {}

    def __enter__(self) -> Fabric:
        try:
            self._build()
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def _build(self) -> None:
        for node in self.plan.nodes:
            self._make_node(node)
        for cable in self.plan.cables:
            self._netlink[cable.a.node].link(
                "add",
                ifname=cable.a.interface,
                kind="veth",
                peer={"ifname": cable.b.interface, "net_ns_fd": self.namespaces[cable.b.node]},
            )
        for node in self.plan.nodes:
            links = {link.get_attr("IFLA_IFNAME"): link for link in self._netlink[node.name].get_links()}
            self._index[node.name] = {name: link["index"] for name, link in links.items()}
            self._born_without |= {f"{node.name}:{name}": _carrier_downs(link) for name, link in links.items()}
        for cable in self.plan.cables:
            self._configure(cable.a)
            self._configure(cable.b)
        for route in self.plan.routes:
            set_route(self._netlink[route.node], route)

    def _make_node(self, node: Node) -> None:
        descriptor = new_network()
        self._undo.callback(os.close, descriptor)
        self.namespaces[node.name] = descriptor
        netlink = IPRoute()
        self._undo.callback(netlink.close)
        self._netlink[node.name] = netlink
        _set_kernel_options(node)
        netlink.link("set", index=1, state="up")
        if node.kind == "bridge":
            # Without these two, a bridge waits and chatters before it forwards.
            netlink.link("add", ifname="bridge", kind="bridge", br_stp_state=0, br_forward_delay=0)
            netlink.link("set", ifname="bridge", state="up")

    def _configure(self, port: Port) -> None:
        netlink, index = self._netlink[port.node], self._index[port.node][port.interface]
        if port.address:
            address, length = port.address.split("/")
            netlink.addr("add", index=index, address=address, prefixlen=int(length))
        else:
            netlink.link("set", index=index, master=self._index[port.node]["bridge"])
        # A bucket on one side of the cable only would let the other side burst: each direction has its own.
        self._shape("add", port)
        netlink.link("set", index=index, state="up")
        if port.address:
            self._steady_subnet(netlink, index, port.address)

    def _shape(self, verb: str, port: Port) -> None:
        netlink, index = self._netlink[port.node], self._index[port.node][port.interface]
        netlink.tc(verb, "tbf", index, rate=port.rate // 8, burst=BURST_BYTES, limit=QUEUE_BYTES)

    def take_rates_of(self, plan: FabricPlan) -> None:
        """Sets the rates in which the plan differs from what stands, and checks that the kernel holds all of them.

        Raises RunFailed where it does not.
        """
        wanted = {name: port for name, port, _ in directions(plan.cables)}
        others = {name for name, rate in self.rates().items() if not _same_rate(rate, wanted[name].rate)}
        for name in others:
            self._shape("change", wanted[name])
        self.plan = plan
        now = self.rates({wanted[name].node for name in others})
        if wrong := [name for name in others if not _same_rate(now[name], wanted[name].rate)]:
            raise RunFailed(f"the fabric does not hold the rates of its plan at {', '.join(sorted(wrong))}")

    @staticmethod
    def _steady_subnet(netlink: IPRoute, index: int, interface: str) -> None:
        """The kernel's own route to an interface's subnet, with the congestion control that all others have."""
        address = ip_interface(interface)
        netlink.route(
            "replace",
            dst=str(address.network),
            oif=index,
            scope="link",
            proto="kernel",
            prefsrc=str(address.ip),
            metrics=CONGESTION_CONTROL,
        )

    def attach(self, bridge: str, address: str) -> None:
        """Gives a bridge an address (`a.b.c.d/len`) of its own, so that a process in it can serve its hosts."""
        netlink, index = self._netlink[bridge], self._index[bridge]["bridge"]
        if not netlink.get_addr(index=index, address=address.split("/")[0]):
            netlink.addr("add", index=index, address=address.split("/")[0], prefixlen=int(address.split("/")[1]))
            self._steady_subnet(netlink, index, address)

    def pin_ports(self, first: int, last: int) -> None:
        """Every host takes its ephemeral ports from first..last only. Leaves the caller in a host's network."""
        for node in self.plan.nodes:
            if node.kind == "host":
                enter_network(self.namespaces[node.name])
                _write(f"{IPV4}/ip_local_port_range", f"{first} {last}")

    def cut(self, link: str) -> None:
        """From now on both ends of a cable drop every packet, and count it. The interfaces stay up."""
        self._keep_at_most(link, 1)  # byte

    def mend(self, link: str) -> None:
        """Undoes `cut`."""
        self._keep_at_most(link, QUEUE_BYTES)

    def _keep_at_most(self, link: str, limit_bytes: int) -> None:
        cable, rates = self.plan.cable(link), self.rates()
        for source, target in ((cable.a, cable.b), (cable.b, cable.a)):
            index, rate = self._index[source.node][source.interface], rates[f"{source.node}->{target.node}"]
            netlink = self._netlink[source.node]
            netlink.tc("change", "tbf", index, rate=rate // 8, burst=BURST_BYTES, limit=limit_bytes)

    def counters(self, nodes: set[str] | None = None) -> dict[str, dict[str, int]]:
        """By direction (`host0->leaf0`): bytes, packets, drops, overlimits, backlog_bytes of its bucket so far."""
        queues = self._queues(nodes)
        found = {name: _statistics(queues[port.node][index]) for name, port, index in self._ports(nodes)}
        for name in self.lost.keys() & found.keys():
            found[name]["drops"] += self.lost[name]()
        return found

    def carrier_downs(self) -> dict[str, int]:
        """By port (`leaf0:host1`): how often it has lost its carrier since the fabric was built."""
        found = {
            f"{node}:{link.get_attr('IFLA_IFNAME')}": _carrier_downs(link)
            for node, netlink in self._netlink.items()
            for link in netlink.get_links()
        }
        ports = [f"{port.node}:{port.interface}" for _, port, _ in self._ports(None)]
        return {port: found[port] - self._born_without[port] for port in ports}

    def netlink(self, node: str) -> IPRoute:
        """The node's own netlink socket, for what impairs a fabric once it is built."""
        return self._netlink[node]

    def index_of(self, port: Port) -> int:
        return self._index[port.node][port.interface]

    def ends_of(self, way: str) -> tuple[Port, Port]:
        """The port that sends and the port that receives in a direction such as `host0->leaf0`."""
        source, _, target = way.partition("->")
        for cable in self.plan.cables:
            for ports in ((cable.a, cable.b), (cable.b, cable.a)):
                if (ports[0].node, ports[1].node) == (source, target):
                    return ports
        raise KeyError(way)

    def on_close(self, undo: Callable[[], object]) -> None:
        """Something to undo before the fabric goes."""
        self._undo.callback(undo)

    def rates(self, nodes: set[str] | None = None) -> dict[str, int]:
        """By direction: the rate in bits/s that the kernel's bucket really has now."""
        queues = self._queues(nodes)
        return {name: _rate(queues[port.node][index]) for name, port, index in self._ports(nodes)}

    def _ports(self, nodes: set[str] | None) -> list[tuple[str, Port, int]]:
        return [
            (name, port, self._index[port.node][port.interface])
            for name, port, _ in directions(self.plan.cables)
            if nodes is None or port.node in nodes
        ]

    def _queues(self, nodes: set[str] | None) -> dict[str, dict[int, Any]]:
        wanted = self._netlink if nodes is None else nodes
        return {
            node: {q["index"]: q for q in self._netlink[node].get_qdiscs() if q.get_attr("TCA_KIND") == "tbf"}
            for node in wanted
        }


def set_route(netlink: IPRoute, route: Route) -> None:
    """The route as planned, whether or not it is there: a port that goes down takes its routes along."""
    hops = [{"gateway": gateway} for gateway in route.gateways]
    how: dict[str, Any] = {"multipath": hops} if len(hops) > 1 else hops[0]
    netlink.route("replace", dst=route.destination, metrics=CONGESTION_CONTROL, **how)


def _set_kernel_options(node: Node) -> None:
    """Of the namespace that the caller is in: forwarding by flow hash in routers, and no IPv6 chatter anywhere.

    A flow keeps its path: TCP would draw another hash after a time-out, which routers go by, and so leave a lossy
    uplink within a second.
    """
    if os.path.exists(PATH_REHASH):
        _write(PATH_REHASH, "0")
    if os.path.exists("/proc/sys/net/ipv6"):
        for scope in ("all", "default"):
            _write(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", "1")
    if node.kind == "router":
        _write(f"{IPV4}/ip_forward", "1")
        _write(f"{IPV4}/fib_multipath_hash_policy", "1")
        for scope in ("all", "default"):
            _write(f"{IPV4}/conf/{scope}/rp_filter", "0")


def _statistics(queue: Any) -> dict[str, int]:
    stats = queue.get_attr("TCA_STATS2")
    basic, held = stats.get_attr("TCA_STATS_BASIC"), stats.get_attr("TCA_STATS_QUEUE")
    return {
        "bytes": basic["bytes"],
        "packets": basic["packets"],
        "drops": held["drops"],
        "overlimits": held["overlimits"],
        "backlog_bytes": held["backlog"],
    }


def _carrier_downs(link: Any) -> int:
    """Of an interface, how often it has lost its carrier; 0 where the kernel does not say."""
    return int(link.get_attr("IFLA_CARRIER_DOWN_COUNT") or 0)


def _rate(queue: Any) -> int:
    return int(queue.get_attr("TCA_OPTIONS").get_attr("TCA_TBF_PARMS")["rate"]) * 8


def _same_rate(held: int, planned: int) -> bool:
    """The bucket counts whole bytes a second."""
    return held == planned // 8 * 8


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
