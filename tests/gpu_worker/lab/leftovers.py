"""What this machine shows of the lab's kind: processes, network namespaces, links, files and shared memory."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
LINKS = Path("/sys/class/net")
NETWORK = "net:["
KEPT = {"rank37-lab.lock"}


@dataclass(frozen=True)
class Seen:
    """`processes` carry a mark of ours; the rest is everybody's, and is compared with what was there before."""

    processes: frozenset[int]
    networks: frozenset[str]
    links: frozenset[str]
    shared_memory: frozenset[str]
    files: frozenset[str]

    def beyond(self, before: Seen) -> dict[str, list[str]]:
        """What is there now and was not before, by kind; empty where nothing was left."""
        new = {name: getattr(self, name) - getattr(before, name) for name in vars(self)}
        return {name: sorted(map(str, found)) for name, found in new.items() if found}


def look(mark: str, folder: Path) -> Seen:
    """`mark` is `NAME=value` in the environment of what is ours; `folder` its folder for temporary files."""
    return Seen(
        processes=frozenset(marked(mark)),
        # An anonymous network namespace lives as long as a process is in it or holds it open.
        networks=frozenset(network for entry in _entries() for network in networks_of(entry)),
        links=frozenset(entry.name for entry in LINKS.iterdir()),
        shared_memory=frozenset(entry.name for entry in SHARED_MEMORY.iterdir())
        if SHARED_MEMORY.is_dir()
        else frozenset(),
        files=frozenset(entry.name for entry in folder.iterdir()) - KEPT,
    )


def marked(mark: str) -> dict[int, int]:
    """pid -> parent's pid of every living process that carries the mark."""
    found = {}
    for entry in _entries():
        with suppress(OSError, ValueError, IndexError):
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    found[int(entry.name)] = int(parent)
    return found


def end_all(mark: str) -> None:
    for pid in marked(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def networks_of(entry: Path) -> Iterator[str]:
    """Of a process, as its folder of /proc tells: the network namespaces that it is in or holds open."""
    with suppress(OSError):
        for link in (entry / "ns" / "net", *(entry / "fd").iterdir()):
            with suppress(OSError):
                target = os.readlink(link)
                if target.startswith(NETWORK):
                    yield target


def _entries() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
