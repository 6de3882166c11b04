"""Who sends how much to whom, from the kernel's own accounts of every TCP socket: what `ss -ti` prints.

Switches count bytes by link; only the hosts' sockets say whose they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from ipaddress import IPv4Address
from socket import AF_INET
from typing import Any, NamedTuple

from pyroute2 import DiagSocket

from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.fabric.plan import FabricPlan

WITH_TCP_INFO = 1 << 1  # INET_DIAG_INFO is extension 2
CARRYING = 1 << 1  # TCP_ESTABLISHED is state 1


class Socket(NamedTuple):
    """One direction of a connection, by addresses and ports."""

    source: str
    source_port: int
    target: str
    target_port: int


class FlowReader:
    """Reads the sockets of every host. Use as a context manager; making it leaves the caller in a host's network."""

    def __init__(self, plan: FabricPlan, namespaces: Mapping[str, int]) -> None:
        self._owner = {
            port.address.split("/")[0]: (int(port.node.removeprefix("host")), cable.kind)
            for cable in plan.cables
            for port in (cable.a, cable.b)
            if port.node.startswith("host")
        }
        self._undo = ExitStack()
        self._readers = []
        for host in range(plan.hosts):
            enter_network(namespaces[f"host{host}"])
            reader = DiagSocket()
            self._undo.callback(reader.close)
            reader.bind()
            self._readers.append(reader)

    def __enter__(self) -> FlowReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def sent(self) -> dict[Socket, int]:
        """Payload bytes that each established socket has sent so far, those sent again included."""
        return {
            key: info["tcpi_bytes_sent"]
            for reader in self._readers
            for key, info in map(_entry, reader.get_sock_stats(AF_INET, CARRYING, extensions=WITH_TCP_INFO))
            if info is not None
        }

    def between(self, before: Mapping[Socket, int], after: Mapping[Socket, int]) -> list[dict[str, Any]]:
        """By pair of hosts and network: `{src, dst, network: access|management, bytes, connections}`, biggest first.

        What a host says to itself never meets a link and is left out.
        """
        found: dict[tuple[int, int, str], list[int]] = defaultdict(list)
        for socket, bytes_sent in after.items():
            grown = bytes_sent - before.get(socket, 0)
            if grown > 0 and socket.source in self._owner and socket.target in self._owner:
                (source, network), (target, _) = self._owner[socket.source], self._owner[socket.target]
                if source != target:
                    found[source, target, network].append(grown)
        flows = [
            {"src": source, "dst": target, "network": network, "bytes": sum(grown), "connections": len(grown)}
            for (source, target, network), grown in found.items()
        ]
        return sorted(flows, key=lambda flow: -flow["bytes"])


def _entry(message: Any) -> tuple[Socket, Any]:
    """Of one answer of the kernel: which socket, and its `tcp_info` where it has one."""
    ends = (str(message["idiag_src"]), message["idiag_sport"], str(message["idiag_dst"]), message["idiag_dport"])
    return Socket(str(IPv4Address(ends[0])), ends[1], str(IPv4Address(ends[2])), ends[3]), message.get_attr(
        "INET_DIAG_INFO"
    )
