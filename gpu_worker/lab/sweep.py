"""Removes what dead runs of ours left behind, by the id of their launcher.

Runs leave next to nothing: their namespaces have no names and live as long as a process holds them, their files are
memory-backed, and a run dies whole with its first process. What can remain is a process whose owner was killed before
the kernel could be asked to take it along: a launcher that was importing torch, and what it had forked.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LAUNCHER_MODULE = "gpu_worker.launcher.process"
PROC = Path("/proc")


@dataclass(frozen=True)
class Ours:
    """A process of a launcher: itself, or what it forked. All carry its id and its owner's mark in their arguments."""

    pid: int
    parent: int
    launcher: str
    owner: str


@dataclass(frozen=True)
class Orphan:
    """A process of ours that no living owner is responsible for."""

    pid: int
    launcher: str
    what: str


def owner_mark(pid: int) -> str:
    """`pid@start`: a process, told from a later one with the same number by when it began (ticks since boot)."""
    return f"{pid}@{_status(pid)[1]}"


def orphans() -> list[Orphan]:
    """Processes of this user's launchers whose owner is gone, or which hang below no launcher any more."""
    ours = processes()
    return [
        Orphan(one.pid, one.launcher, why) for one in ours.values() if (why := _forsaken(one, ours, _lives(one.owner)))
    ]


def sweep() -> list[Orphan]:
    """Ends every orphan and returns them. What a living owner runs is never touched."""
    swept = []
    for orphan in orphans():
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan.pid, signal.SIGKILL)
            swept.append(orphan)
    return swept


def processes() -> dict[int, Ours]:
    """Every living process of this user's launchers, by pid."""
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                if (one := _read(entry)) is not None:
                    found[one.pid] = one
    return found


def _read(entry: Path) -> Ours | None:
    words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
    if words[1:3] != ["-m", LAUNCHER_MODULE] or _user(entry) != os.getuid():
        return None
    return Ours(int(entry.name), _status(int(entry.name))[0], words[3], words[4])


def _user(entry: Path) -> int:
    """Not the folder's owner: the kernel gives that of a process which changed its credentials to root."""
    line = next(line for line in (entry / "status").read_text().splitlines() if line.startswith("Uid:"))
    return int(line.split()[1])


def _forsaken(one: Ours, ours: Mapping[int, Ours], owner_lives: bool) -> str:
    """Why it is an orphan; empty where its line of parents leads to a living owner."""
    if not owner_lives:
        return "its owner is gone"
    above: Ours | None = one
    while above is not None and above.parent in ours and ours[above.parent].launcher == one.launcher:
        above = ours[above.parent]
    return "" if above is not None and above.parent == int(one.owner.partition("@")[0]) else "its launcher is gone"


def _lives(mark: str) -> bool:
    pid, _, start = mark.partition("@")
    try:
        return str(_status(int(pid))[1]) == start
    except OSError:
        return False


def _status(pid: int) -> tuple[int, int]:
    """(parent's pid, start in ticks since boot). Raises OSError where there is no such process."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return int(fields[1]), int(fields[19])
