"""Whether a process that a row names still lives: only where its process ids mean something here."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from gpu_worker.lab import machine

BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"
PID_NAMESPACE = "/proc/self/ns/pid"


@functools.cache
def scope() -> str:
    """Names this boot and this process-id namespace: process ids of another scope say nothing here."""
    try:
        return f"{Path(BOOT_ID_FILE).read_text().strip()} {os.readlink(PID_NAMESPACE)}"
    except OSError:
        return ""


def machine_id() -> str:
    """Of the machine as far as timings go; see `gpu_worker.lab.machine.fingerprint`."""
    return str(machine.fingerprint()["id"])


def process_lives(pid: int) -> bool:
    """Whether a process has that id and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
