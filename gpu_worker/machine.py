"""Which machine this is, for heartbeats and self-checks: stable across restarts of the worker, without its name."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from pathlib import Path

MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"


def text_of(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


@functools.cache
def fingerprint() -> str:
    """Twelve hex digits from the machine's id, kernel and cores: a change of any asks for a new self-check."""
    identity = next((found for file in MACHINE_ID_FILES if (found := text_of(file))), platform.node())
    parts = (identity, platform.machine(), platform.release(), str(os.cpu_count()))
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:12]


@functools.cache
def boot_id() -> str:
    """Of this boot; empty where the system has none."""
    return text_of(BOOT_ID_FILE)


def process_lives(pid: int) -> bool:
    """Whether a process of this machine has that id and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    stat = text_of(f"/proc/{pid}/stat")
    return not stat or stat.rpartition(")")[2].split()[0] != "Z"
