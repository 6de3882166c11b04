"""Files that live as long as a run: a memory-backed file system that is mounted nowhere.

It has no name and no mount point, only a descriptor, so that whatever kills a run leaves nothing of it.
"""

from __future__ import annotations

import ctypes
import os

# The same numbers on every architecture (Linux 5.2 and later); the C library may be older than its kernel.
FSOPEN, FSCONFIG, FSMOUNT = 430, 431, 432
CLOEXEC = 1
SET_STRING, CREATE = 1, 6

_libc = ctypes.CDLL(None, use_errno=True)


def unnamed_files(size_bytes: int) -> int:
    """A descriptor of an empty tmpfs of at most `size_bytes`; its files are below `folder_of(descriptor)`.

    The caller must own its mount namespace. Forked children may use it. Raises OSError.
    """
    context = _call(FSOPEN, b"tmpfs", CLOEXEC)
    try:
        _call(FSCONFIG, context, SET_STRING, b"size", str(size_bytes).encode(), 0)
        _call(FSCONFIG, context, CREATE, None, None, 0)
        return _call(FSMOUNT, context, CLOEXEC, 0)
    finally:
        os.close(context)


def folder_of(descriptor: int) -> str:
    """The folder behind a descriptor, for the process that holds it and for its forks."""
    return f"/proc/self/fd/{descriptor}"


def _call(number: int, *arguments: object) -> int:
    result: int = _libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mounting a tmpfs: {os.strerror(code)}")
    return result
