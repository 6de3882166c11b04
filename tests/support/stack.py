"""The whole of Rank 37 as a person starts it: the supervisor with a data folder and a port of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from config import paths
from config.supervisor import linux
from tests.support import processes
from tests.support.ports import free_port
from tests.support.waiting import wait_until

ANSWERS = "answers at"


class Stack:
    """One start. `start` returns once it says its address; `stop` is what Ctrl-C does."""

    def __init__(self, data: Path, port: int | None = None, **env: str) -> None:
        self.data, self.port = data, port or free_port()
        self.env = {**clean_environment(), "DATA_DIR": str(data), "PORT": str(self.port), **env}
        self.output = data.parent / f"{data.name}.out"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    def launch(self, command: tuple[str, ...] = (sys.executable, "-m", "config.supervisor")) -> Stack:
        """Starts and does not wait; the output is this start's alone."""
        with self.output.open("wb") as out:
            self.process = subprocess.Popen(
                command,
                cwd=paths.BASE_DIR,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=linux.die_with_parent(signal.SIGTERM, os.getpid()),
            )
        return self

    def start(self, within_s: float = 90.0) -> Stack:
        self.launch()
        self.wait_answering(within_s)
        return self

    def wait_answering(self, within_s: float = 90.0) -> None:
        process = self.process
        assert process is not None
        wait_until(
            "the stack says its address or ends",
            lambda: ANSWERS in self.said() or process.poll() is not None,
            within_s,
        )
        assert process.poll() is None, f"the stack ended with {process.returncode}:\n{self.said()}\n{self.logs()}"

    def send(self, signum: int) -> None:
        assert self.process is not None
        self.process.send_signal(signum)

    def stop(self, signum: int = signal.SIGINT, within_s: float = 30.0) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.send(signum)
        return self.process.wait(within_s)

    def processes(self) -> set[int]:
        """Every living process that this start made, wherever it hangs by now."""
        # Redis writes its title over its environment, and the title holds the socket's path.
        return processes.carrying("DATA_DIR", str(self.data)) | processes.mentioning(str(self.data))

    def pid_of(self, word: str) -> int:
        """The first process of ours whose command line holds the word."""
        return min(processes.named(self.processes(), word))

    def logs(self) -> str:
        """The end of each log, for a failure's message."""
        files = sorted((self.data / "logs").glob("*.log"))
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-1500:]}" for file in files)

    def manage(self, *arguments: str, within_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """A management command against this stack's database and Redis."""
        env = {**self.env, "REDIS_URL": paths_redis(self.data)}
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=paths.BASE_DIR, env=env, capture_output=True, text=True, timeout=within_s)

    def __enter__(self) -> Stack:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()


def paths_redis(data: Path) -> str:
    return f"unix://{paths.redis_socket(data)}"


def clean_environment() -> dict[str, str]:
    """Ours without what would name another installation's parts."""
    left_out = {"REDIS_URL", "SECRET_KEY", "DATABASE_URL", "STATIC_HASHED", "DEBUG", "DJANGO_SETTINGS_MODULE"}
    return {name: value for name, value in os.environ.items() if name not in left_out}
