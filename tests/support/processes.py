"""Looking at processes of our own: what is below one, and what carries a mark of ours in its environment."""

from __future__ import annotations

import os
from pathlib import Path

from config.supervisor.linux import descendants_of

__all__ = ["alive", "carrying", "descendants_of", "mentioning", "named"]


def alive(pid: int) -> bool:
    """False for a zombie too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def carrying(variable: str, value: str) -> set[int]:
    """Living processes whose environment at their start held `variable=value`: ours, wherever they hang by now."""
    wanted = f"{variable}={value}".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0") and alive(int(entry.name)):
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def mentioning(word: str) -> set[int]:
    """Living processes whose command line holds the word."""
    everyone = {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    return {pid for pid in named(everyone - {os.getpid()}, word) if alive(pid)}


def named(pids: set[int], word: str) -> set[int]:
    """Those whose command line holds the word."""
    found = set()
    for pid in pids:
        try:
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(pid)
        except OSError:
            continue
    return found
