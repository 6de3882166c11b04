"""Where Rank 37 keeps what it makes. Standard library only: read before the environment exists."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent

# sun_path holds 108 bytes, and redis-server refuses longer names.
LONGEST_SOCKET_PATH = 100


def data_dir() -> Path:
    """The folder of the database, the secret key, logs, sockets and collected static files (`DATA_DIR`)."""
    return Path(os.environ.get("DATA_DIR") or BASE_DIR / ".run").expanduser().resolve()


def redis_socket(data: Path) -> Path:
    """The embedded Redis's Unix socket: in the data folder, or in a short one of this user's where that is too deep."""
    inside = data / "redis.sock"
    if len(str(inside)) <= LONGEST_SOCKET_PATH:
        return inside
    digest = hashlib.sha256(str(data).encode()).hexdigest()[:16]
    parent = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return parent / f"rank37-{os.getuid()}-{digest}" / "redis.sock"


def redis_url(data: Path) -> str:
    """`REDIS_URL`, or the embedded server's socket as `unix:///path`."""
    return os.environ.get("REDIS_URL") or f"unix://{redis_socket(data)}"


def lab_ready_file(data: Path) -> Path:
    """Written by the lab worker once it takes work; the supervisor waits for it."""
    return data / "lab.ready"


def secret_key_file(data: Path) -> Path:
    return data / "secret_key"
