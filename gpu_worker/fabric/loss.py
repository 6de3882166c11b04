"""Packets lost in one direction of a link: at random, from a moment on, or because they are large.

At random by netem where the kernel has it, else by an nftables rule. Neither needs a command line tool: both are
netlink, and an ordinary user may use them in networks of his own.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
from collections.abc import Callable
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.nftables.main import NFTables

from gpu_worker.errors import LabUnavailable
from gpu_worker.fabric.build import Fabric
from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.fabric.plan import Port

PER = 1_000_000
NETEM, NUMGEN = "netem", "nft numgen"
NETDEV_FAMILY, HOOK_INGRESS, POLICY_ACCEPT, VERDICT_DROP = 5, 0, 1, 0
REGISTER, RANDOM, LESS_THAN, TO_NETWORK_ORDER = 1, 1, 2, 1
MINUTE_S, BY_BYTES, OVER = 60, 1, 1
TABLE = "loss"
SIOCETHTOOL = 0x8946
# ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO: with any of them on, one loss would take a burst of 64 kB.
OFFLOADS = (0x1F, 0x24, 0x2C)


def lose(fabric: Fabric, way: str, per_million: int) -> str:
    """Drops packets of one direction (`host0->leaf0`) at random from now on. Returns what does it.

    The drops appear among the direction's counters. Leaves the caller in the network of one of the link's ends.
    Raises LabUnavailable where the kernel has neither way.
    """
    source, target = fabric.ends_of(way)
    for port in (source, target):
        enter_network(fabric.namespaces[port.node])
        without_offloads(port.interface)
    problems = []
    for how, start, port in ((NETEM, _with_netem, source), (NUMGEN, _with_numgen, target)):
        try:
            fabric.lost[way] = start(fabric, port, per_million)
            return how
        except NetlinkError as problem:
            problems.append(f"{how}: {problem}")
    raise LabUnavailable(f"this kernel loses no packets at random, neither way ({'; '.join(problems)})")


def without_offloads(interface: str) -> None:
    """No packet of this interface of the caller's network is bigger than its MTU from now on. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in OFFLOADS:
            value = array.array("B", struct.pack("=II", command, 0))
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0]).ljust(40, b"\0")
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def _with_netem(fabric: Fabric, port: Port, per_million: int) -> Callable[[], int]:
    """A netem queue inside the port's token bucket."""
    netlink, index = fabric.netlink(port.node), fabric.index_of(port)
    parent = next(q["handle"] for q in netlink.get_qdiscs(index=index) if q.get_attr("TCA_KIND") == "tbf") | 1
    netlink.tc("add", "netem", index, parent=parent, loss=100 * per_million / PER)

    def dropped() -> int:
        queues = netlink.get_qdiscs(index=index)
        netem = next(queue for queue in queues if queue.get_attr("TCA_KIND") == NETEM)
        return int(netem.get_attr("TCA_STATS2").get_attr("TCA_STATS_QUEUE")["drops"])

    return dropped


def _with_numgen(fabric: Fabric, port: Port, per_million: int) -> Callable[[], int]:
    """A rule at the ingress of the port that drops what a random number says."""
    return _drop(fabric, port, _at_random(per_million))


def swallow(fabric: Fabric, way: str, after_bytes: int) -> Callable[[], int]:
    """Once so many more bytes have come through a direction, it drops all that follows, and no port counts it.

    Returns what reads the number of packets gone so. Leaves the caller in the network of the receiving end.
    """
    return _drop(fabric, fabric.ends_of(way)[1], _beyond(after_bytes))


def refuse_large(fabric: Fabric, way: str, mtu: int) -> Callable[[], int]:
    """The receiving port of a direction takes packets of `mtu` bytes at most, while its sender believes in more.

    Nobody is told: the sender's interface has the larger MTU, and no router is between that could complain. Returns
    what reads the receiving port's count of dropped packets. Leaves the caller in the network of the sending end.
    """
    source, target = fabric.ends_of(way)
    enter_network(fabric.namespaces[source.node])
    without_offloads(source.interface)  # a burst that is still to be cut would pass, whatever its size
    netlink, index = fabric.netlink(target.node), fabric.index_of(target)
    netlink.link("set", index=index, mtu=mtu)

    def dropped() -> int:
        (link,) = netlink.get_links(index)
        return int(link.get_attr("IFLA_STATS64")["rx_dropped"])

    return dropped


def _drop(fabric: Fabric, port: Port, condition: list[dict[str, Any]]) -> Callable[[], int]:
    """A rule at the ingress of a port that counts and drops; returns what reads its count."""
    enter_network(fabric.namespaces[port.node])
    tables = NFTables(nfgen_family=NETDEV_FAMILY)
    fabric.on_close(tables.close)
    chain = f"{TABLE}-{port.interface}"
    hook = _attributes(NFTA_HOOK_HOOKNUM=HOOK_INGRESS, NFTA_HOOK_PRIORITY=0, NFTA_HOOK_DEV=port.interface)
    tables.table("add", name=TABLE)
    # Given whole: the library's own helper knows no ingress hook.
    tables.chain("add", kwarg={"table": TABLE, "name": chain, "hook": hook, "type": "filter", "policy": POLICY_ACCEPT})
    verdict = _attributes(NFTA_DATA_VERDICT=_attributes(NFTA_VERDICT_CODE=VERDICT_DROP))
    drop = [_expression("counter"), _expression("immediate", NFTA_IMMEDIATE_DREG=0, NFTA_IMMEDIATE_DATA=verdict)]
    tables.rule("add", table=TABLE, chain=chain, expressions=([*condition, *drop],))

    def dropped() -> int:
        return sum(_counted(rule) for rule in tables.get_rules() if rule.get_attr("NFTA_RULE_CHAIN") == chain)

    return dropped


def _at_random(per_million: int) -> list[dict[str, Any]]:
    """`numgen random mod 1000000 < per_million`."""
    threshold = _attributes(NFTA_DATA_VALUE=struct.pack(">I", per_million))
    return [
        _expression("numgen", NFTA_NG_DREG=REGISTER, NFTA_NG_MODULUS=PER, NFTA_NG_TYPE=RANDOM),
        # The number comes in the machine's order, and is compared byte by byte.
        _expression(
            "byteorder",
            NFTA_BYTEORDER_SREG=REGISTER,
            NFTA_BYTEORDER_DREG=REGISTER,
            NFTA_BYTEORDER_OP=TO_NETWORK_ORDER,
            NFTA_BYTEORDER_LEN=4,
            NFTA_BYTEORDER_SIZE=4,
        ),
        _expression("cmp", NFTA_CMP_SREG=REGISTER, NFTA_CMP_OP=LESS_THAN, NFTA_CMP_DATA=threshold),
    ]


def _beyond(bytes_first: int) -> list[dict[str, Any]]:
    """`limit rate over 1 bytes/minute burst bytes_first`: what nobody refills is a quota."""
    return [
        _expression(
            "limit",
            NFTA_LIMIT_RATE=1,
            NFTA_LIMIT_UNIT=MINUTE_S,
            NFTA_LIMIT_BURST=bytes_first,
            NFTA_LIMIT_TYPE=BY_BYTES,
            NFTA_LIMIT_FLAGS=OVER,
        )
    ]


def _expression(name: str, **attributes: Any) -> dict[str, Any]:
    return _attributes(NFTA_EXPR_NAME=name, NFTA_EXPR_DATA=_attributes(**attributes))


def _attributes(**attributes: Any) -> dict[str, Any]:
    return {"attrs": list(attributes.items())}


def _counted(rule: Any) -> int:
    """Packets that a rule's counter has seen."""
    for expression in rule.get_attr("NFTA_RULE_EXPRESSIONS"):
        if expression.get_attr("NFTA_EXPR_NAME") == "counter":
            return int(expression.get_attr("NFTA_EXPR_DATA").get_attr("NFTA_COUNTER_PACKETS"))
    return 0
