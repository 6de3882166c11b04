"""What the kernel does for us: children that die with their parent, and orphans that come to us to be ended.

On systems without prctl the calls do nothing: an ordinary stop still ends everything, a killed supervisor does not.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PROC = Path("/proc")

LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def adopt_orphans() -> None:
    """Makes this process the parent of its descendants' orphans."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(signum: int, parent: int) -> Callable[[], None]:
    """To be called in the child between fork and exec: the kernel sends `signum` once the parent's thread ends."""

    def in_child() -> None:
        if LIBC is None:
            return
        LIBC.prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0)
        # The parent may have died before the call: then no signal would ever come.
        if os.getppid() != parent:
            os._exit(1)

    return in_child


def leave_once_orphaned(parent: int, grace_s: float, look_every_s: float = 1.0) -> None:
    """Blocks as long as `parent` is this process's parent; then ends the process after a grace, whatever it is at."""
    while os.getppid() == parent:
        time.sleep(look_every_s)
    time.sleep(grace_s)
    os._exit(1)


def parents() -> Iterator[tuple[int, int]]:
    """(process, its parent) for every process that we may see."""
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue  # ended while we looked
        yield int(entry.name), int(stat.rpartition(")")[2].split()[1])


def children_of(parent: int) -> set[int]:
    return {pid for pid, its_parent in parents() if its_parent == parent}


def descendants_of(root: int) -> set[int]:
    """Every process below `root`, however deep."""
    below: dict[int, list[int]] = {}
    for pid, parent in parents():
        below.setdefault(parent, []).append(pid)
    found: set[int] = set()
    ahead = list(below.get(root, ()))
    while ahead:
        pid = ahead.pop()
        if pid not in found:
            found.add(pid)
            ahead.extend(below.get(pid, ()))
    return found


def send(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except (ProcessLookupError, PermissionError):
        pass


def reap(pid: int) -> None:
    """Collects an adopted child that has ended."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def end_orphans(known: set[int]) -> None:
    """Kills what was left to us by a service that died: it belongs to nobody now."""
    for pid in children_of(os.getpid()) - known:
        send(pid, signal.SIGKILL)
        reap(pid)
