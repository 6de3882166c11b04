"""One service as a running process: started, asked, stopped, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from config import paths
from config.supervisor import linux
from config.supervisor.plan import Service

LONGEST_LOG_BYTES = 5_000_000


def open_log(file: Path) -> int:
    """For appending; one earlier file is kept once it has grown long."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and file.stat().st_size > LONGEST_LOG_BYTES:
        file.replace(file.with_suffix(".1.log"))
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def spawn(command: tuple[str, ...], log: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts a child in a session of its own, so that Ctrl-C reaches the supervisor alone, and that dies with it."""
    out = open_log(log)
    try:
        return subprocess.Popen(
            command,
            cwd=paths.BASE_DIR,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=linux.die_with_parent(signal.SIGTERM, os.getpid()),
        )
    finally:
        os.close(out)


class Child:
    """A service and the process that runs it now, if any."""

    def __init__(self, service: Service, log: Path, env: Mapping[str, str], answers: Callable[[int], bool]) -> None:
        self.service, self.log = service, log
        self.env = {**env, **service.env}
        self.answers = answers
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.given_up = False
        self.late = False
        self.deaths: list[float] = []
        self.started_at = 0.0
        self.start_at: float | None = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    def start(self) -> None:
        self.ready, self.late, self.start_at, self.started_at = False, False, None, time.monotonic()
        self.process = spawn(self.service.command, self.log, self.env)

    def has_died(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def looks_ready(self) -> bool:
        """Asks the service until it has answered once."""
        if not self.ready and self.process is not None and self.process.poll() is None:
            self.ready = self.answers(self.process.pid)
        return self.ready

    def is_late(self, now: float) -> bool:
        return self.process is not None and not self.ready and now - self.started_at > self.service.ready_within_s

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def wait_stopped(self, deadline: float) -> None:
        """Until it has ended or the deadline (monotonic) is over; then kills it."""
        if self.process is None:
            return
        try:
            self.process.wait(max(deadline - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_words(self) -> str:
        """The last line of the log that says anything."""
        try:
            lines = self.log.read_text(errors="replace")[-4000:].splitlines()
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
