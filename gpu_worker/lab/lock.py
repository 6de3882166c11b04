"""One experiment at a time on a machine: a lock on a file that every user's processes share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

from gpu_worker.errors import LabUnavailable

LOCK_NAME = "rank37-lab.lock"
POLL_S = 0.02
_within_process = threading.Lock()


@contextlib.contextmanager
def machine_lock(limit_s: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the machine for the block; calls `waiting` once where another experiment holds it first.

    Raises LabUnavailable where others hold it for longer than limit_s. The kernel lets go of it when its holder dies,
    however it dies.
    """
    deadline = time.monotonic() + limit_s
    tell = _Once(waiting)
    if not _within_process.acquire(blocking=False):
        tell()
        if not _within_process.acquire(timeout=limit_s):
            raise LabUnavailable(f"another experiment held the lab for more than {limit_s:.0f} s")
    try:
        descriptor = _open_lock_file()
        try:
            _lock(descriptor, deadline, limit_s, tell)
            yield
        finally:
            os.close(descriptor)
    finally:
        _within_process.release()


def _open_lock_file() -> int:
    path = os.path.join(tempfile.gettempdir(), LOCK_NAME)
    with contextlib.suppress(FileNotFoundError):
        # Without O_CREAT: the kernel may refuse to "create" another user's file in a shared folder.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o644:
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, 0o644)  # whatever the umask, others must be able to open it
    return descriptor


class _Once:
    """Passes on the first call only."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call, self._called = call, False

    def __call__(self) -> None:
        if not self._called:
            self._called = True
            self._call()


def _lock(descriptor: int, deadline: float, limit_s: float, tell: Callable[[], None]) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            tell()
            if time.monotonic() > deadline:
                raise LabUnavailable(f"another experiment held the lab for more than {limit_s:.0f} s") from None
            time.sleep(POLL_S)
