"""Removes what dead runs of ours left behind.

Runs leave next to nothing: their namespaces have no names, their files are memory-backed, and a run dies whole with
its first process. What can remain for a moment is a launcher whose owner was killed while it imported torch.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

LAUNCHER_ARGUMENTS = ["-m", "gpu_worker.launcher.process"]


@dataclass(frozen=True)
class Orphan:
    """A launcher of this installation and user whose owner is gone, or one of its runs."""

    pid: int
    what: str


def orphans() -> list[Orphan]:
    """Launchers that were handed to init because their owner died. Those with a living owner are never touched."""
    own = os.getuid()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[1:3]
            if arguments == LAUNCHER_ARGUMENTS and entry.stat().st_uid == own and _parent(entry) == 1:
                found.append(Orphan(int(entry.name), "launcher without an owner"))
    return found


def sweep() -> list[Orphan]:
    """Ends every orphan and returns them; a run dies with its launcher."""
    swept = []
    for orphan in orphans():
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan.pid, signal.SIGKILL)
            swept.append(orphan)
    return swept


def _parent(entry: Path) -> int:
    after_name = (entry / "stat").read_text().rpartition(")")[2].split()
    return int(after_name[1])
