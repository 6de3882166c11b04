"""What to run: pure, from the settings of one start to a list of services."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from config import paths

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Start:
    """One `make run`: where it keeps things, where it listens, which Redis."""

    data: Path
    port: int
    redis_url: str
    own_redis: bool
    redis_server: str | None

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/"

    @property
    def logs(self) -> Path:
        return self.data / "logs"


@dataclass(frozen=True)
class Service:
    """A long-running child. `essential`: without it nothing works, so its failure ends the whole."""

    name: str
    command: tuple[str, ...]
    essential: bool
    without_it: str
    ready_within_s: float = 60.0
    stop_within_s: float = 8.0
    env: Mapping[str, str] = field(default_factory=dict)


def environment(start: Start, base: Mapping[str, str]) -> dict[str, str]:
    """What every child gets: the same data folder, port and Redis, and unbuffered logs."""
    debug = base.get("DEBUG", "").strip().lower() in {"1", "true", "yes", "on"}
    return {
        **base,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATA_DIR": str(start.data),
        "PORT": str(start.port),
        "REDIS_URL": start.redis_url,
        "STATIC_HASHED": "0" if debug else "1",
        "PYTHONUNBUFFERED": "1",
    }


def redis(start: Start) -> Service | None:
    """The embedded server, in memory and on a Unix socket alone; None where REDIS_URL names another."""
    if not start.own_redis or start.redis_server is None:
        return None
    socket = paths.redis_socket(start.data)
    return Service(
        name="redis",
        command=(
            *(start.redis_server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
            # The database is the truth; Redis carries doorbells and live views, which a restart may lose.
            *("--save", "", "--appendonly", "no", "--dir", str(socket.parent), "--daemonize", "no"),
        ),
        essential=False,
        without_it="the lab cannot be asked; pages work and evidence comes from the bank",
        ready_within_s=15.0,
    )


def lab(start: Start) -> Service:
    return Service(
        name="lab",
        command=(
            *(sys.executable, "-m", "celery", "-A", "config", "worker", "--queues", "lab", "--concurrency", "1"),
            *("--pool", "prefork", "--hostname", "lab@%h", "--loglevel", "INFO"),
            *("--without-gossip", "--without-mingle"),
        ),
        essential=False,
        without_it="pages work and evidence comes from the bank",
        # Warm shutdown would wait for a whole experiment; the run is taken up again at the next start.
        env={"REMAP_SIGTERM": "SIGQUIT"},
        ready_within_s=15.0,
        stop_within_s=5.0,
    )


def web(start: Start) -> Service:
    return Service(
        name="web",
        command=(
            *(sys.executable, "-m", "uvicorn", "config.asgi:application", "--host", HOST, "--port", str(start.port)),
            # An open stream would hold the server for ever without a time-out.
            *("--timeout-graceful-shutdown", "2", "--no-server-header", "--no-access-log"),
        ),
        essential=True,
        without_it="nothing works",
    )


def services(start: Start) -> list[Service]:
    """In the order in which they start; they stop in the opposite one."""
    own = redis(start)
    reachable = own is not None or not start.own_redis
    return [*([own] if own else []), *([lab(start)] if reachable else []), web(start)]
