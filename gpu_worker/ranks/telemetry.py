"""What the kernel tells a rank about itself: processor time, waiting, switches, sockets, retransmits."""

from __future__ import annotations

import os
import resource
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

NANOSECOND = 1e-9
ESTABLISHED = "01"


@dataclass(frozen=True)
class Scheduled:
    """Of the calling thread since it began, in seconds: on a core, and waiting for one."""

    cpu_s: float
    run_delay_s: float

    def __sub__(self, other: Scheduled) -> Scheduled:
        return Scheduled(self.cpu_s - other.cpu_s, self.run_delay_s - other.run_delay_s)


def scheduled() -> Scheduled:
    """From /proc/thread-self/schedstat: time on a core and time on a run queue."""
    with open("/proc/thread-self/schedstat") as file:
        on_core, waiting, _ = file.read().split()
    return Scheduled(int(on_core) * NANOSECOND, int(waiting) * NANOSECOND)


@dataclass(frozen=True)
class Usage:
    """Of the whole process and its host's network since they began."""

    process_cpu_s: float
    voluntary_switches: int
    involuntary_switches: int
    tcp_retransmits: int
    tcp_segments_out: int

    def since(self, other: Usage) -> dict[str, float]:
        return {name: value - getattr(other, name) for name, value in vars(self).items()}


def usage() -> Usage:
    own = resource.getrusage(resource.RUSAGE_SELF)
    tcp = _tcp_counters()
    return Usage(
        process_cpu_s=own.ru_utime + own.ru_stime,
        voluntary_switches=own.ru_nvcsw,
        involuntary_switches=own.ru_nivcsw,
        tcp_retransmits=tcp["RetransSegs"],
        tcp_segments_out=tcp["OutSegs"],
    )


def _tcp_counters() -> dict[str, int]:
    with open("/proc/thread-self/net/snmp") as file:
        names, values = (line.split()[1:] for line in file if line.startswith("Tcp:"))
    return {name: int(value) for name, value in zip(names, values, strict=True)}


def interfaces_in_use(interface_of: Mapping[str, str]) -> str:
    """The interface that carries this process's established TCP connections, by their local addresses.

    `interface_of` maps the host's addresses to interface names. Where several carry some, they are joined by `+`.
    """
    own = _socket_inodes()
    used: Counter[str] = Counter()
    with open("/proc/thread-self/net/tcp") as file:
        next(file)
        for line in file:
            fields = line.split()
            if fields[3] == ESTABLISHED and fields[9] in own:
                used[interface_of.get(_address(fields[1]), "unknown")] += 1
    return "+".join(sorted(used))


def _socket_inodes() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:  # the descriptor of the listing itself
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def _address(field: str) -> str:
    """`0100007F:1F90` -> `127.0.0.1`: the kernel prints the number in the machine's own byte order."""
    return socket.inet_ntoa(struct.pack("=I", int(field.split(":")[0], 16)))
