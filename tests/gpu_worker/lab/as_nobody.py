"""Runs a command as an ordinary user: `python as_nobody.py COMMAND …`, started as root.

Where the interpreter lies in a folder that others may not enter (a root's home), a private mount namespace of this
process alone opens the way; nothing outside it changes.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from pathlib import Path

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18
NOBODY = 65534
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    encoded = [text.encode() if text is not None else None for text in (source, target, kind)]
    if _libc.mount(*encoded, ctypes.c_ulong(flags), options.encode() if options else None):
        raise OSError(ctypes.get_errno(), f"mount on {target}: {os.strerror(ctypes.get_errno())}")


def closed_ancestor(path: Path) -> Path | None:
    """The topmost folder on the way to `path` that others may not enter."""
    return next((p for p in reversed([path, *path.parents]) if not p.stat().st_mode & stat.S_IXOTH), None)


def open_the_way(paths: list[Path]) -> None:
    closed = [path for path in paths if closed_ancestor(path)]
    if not closed:
        return
    if _libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    # Opened in the new namespace: the kernel binds no folder of another one.
    held = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in closed}
    for path, descriptor in held.items():
        if not path.exists():
            path.mkdir(parents=True)
        elif (covered := closed_ancestor(path)) is not None:
            mount("none", str(covered), "tmpfs", 0, "mode=755")
            path.mkdir(parents=True)
        mount(f"/proc/self/fd/{descriptor}", str(path), None, MS_BIND | MS_REC)
        os.close(descriptor)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    open_the_way(list(dict.fromkeys([Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), root])))
    os.chdir(root)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    os.execv(sys.argv[1], sys.argv[1:])
