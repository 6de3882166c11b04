"""Namespaces and process bonds, straight from the kernel: unshare, setns, and dying with the parent.

Everything here acts on the calling process or thread. Importing NumPy or torch starts threads, and `unshare` of a
user namespace is then refused: fork first, and call these in the child.
"""

from __future__ import annotations

import ctypes
import os
import signal

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Moves the calling process into new namespaces. Raises OSError."""
    _checked(_libc.unshare(flags), "unshare")


def enter_network(descriptor: int) -> None:
    """Moves the calling thread into the network namespace behind an open descriptor. Raises OSError."""
    _checked(_libc.setns(descriptor, CLONE_NEWNET), "setns")


def die_with_parent() -> None:
    """SIGKILL for this process when the thread that forked it ends. Call it in a child of a main thread only."""
    _checked(_libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")


def become_owner_of_a_user_namespace() -> None:
    """A user namespace in which this ordinary user is root, so that it may build networks. Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"0 {user} 1")
    _write("/proc/self/gid_map", f"0 {group} 1")


def new_network() -> int:
    """A new anonymous network namespace; the caller is in it afterwards. Returns a descriptor that keeps it alive."""
    unshare(CLONE_NEWNET)
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def isolate(how: str) -> None:
    """New process and network namespaces for the children to come; `how` is `root` or `user`. Raises OSError."""
    if how == "user":
        become_owner_of_a_user_namespace()
    unshare(CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
