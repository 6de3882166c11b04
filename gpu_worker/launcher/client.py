"""The owner's side of the launcher: starts it, sends it runs, and never outwaits a deadline.

The launcher is a process of its own made by `subprocess`, since a Celery pool child is daemonic and may not use
`multiprocessing`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_worker import errors
from gpu_worker.lab.sweep import owner_mark
from gpu_worker.launcher.channel import Channel, ChannelClosed, DeadlinePassed

START_LIMIT_S = 60.0
RUN_MARGIN_S = 15.0  # beyond the run's own deadline, which the launcher keeps
# The last line of a traceback.
RAISED = re.compile(r"^[\w.]+(Error|Exception|Exit|Interrupt)\b")
REPOSITORY = Path(__file__).resolve().parents[2]


def arguments(owner: int) -> list[str]:
    """The launcher's arguments. All processes of its runs carry them too: by them `lab sweep` knows whose they are."""
    return ["-m", "gpu_worker.launcher.process", secrets.token_hex(6), owner_mark(owner)]


class Launcher:
    """A warm launcher of this process. `run` may be called again and again; `close` ends it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, *arguments(self.owner)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C reaches the owner, which then ends the launcher in order
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._channel = Channel(self._process.stdout.fileno(), self._process.stdin.fileno())
        atexit.register(self.close)
        self.how = self._greet()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it still runs and is ours: a forked child must start its own."""
        return self.owner == os.getpid() and self._process.poll() is None

    def run(self, order: dict[str, Any], progress: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
        """The raw result of one run. Raises the LabError that the run ended with."""
        try:
            self._channel.send({"order": "run", "plan": order})
            return self._await_result(time.monotonic() + order["deadline_s"] + RUN_MARGIN_S, progress)
        except ChannelClosed:
            self.close()
            raise errors.RunFailed("the launcher died during the run") from None
        except DeadlinePassed:
            self.close()
            raise errors.RunFailed("the launcher did not answer in time and was ended") from None
        except BaseException as problem:
            if not isinstance(problem, errors.LabError):
                self.close()  # interrupted halfway: what it still sends belongs to no one
            raise

    def _await_result(self, deadline: float, progress: Callable[[dict[str, Any]], None] | None) -> dict[str, Any]:
        while True:
            message = self._channel.receive(deadline)
            if message["event"] == "result":
                result: dict[str, Any] = message["result"]
                return result
            if message["event"] == "failed":
                raise _error(message)
            if progress:
                progress({key: message[key] for key in ("done", "total", "phase")})

    def _greet(self) -> str:
        try:
            hello = self._channel.receive(time.monotonic() + START_LIMIT_S)
        except (ChannelClosed, DeadlinePassed):
            self.close()
            raise errors.LabUnavailable("the launcher did not start; see its messages on standard error") from None
        if hello["event"] != "ready":
            self.close()
            raise errors.LabUnavailable(hello["reason"])
        return str(hello["how"])

    def close(self) -> None:
        """Ends the launcher and what it runs; harmless when it is gone already, or not ours."""
        atexit.unregister(self.close)
        if self.owner != os.getpid() or self._process.stdin is None or self._process.stdin.closed:
            return
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _error(message: dict[str, Any]) -> errors.LabError:
    kind = getattr(errors, message["kind"], errors.RunFailed)
    said = message.get("said", "")
    raised = [line for line in said.splitlines() if RAISED.match(line)]
    reason = f"{message['reason']}: {raised[-1]}" if raised else message["reason"]
    error: errors.LabError = kind(reason)
    if said:
        error.add_note(said)
    return error
