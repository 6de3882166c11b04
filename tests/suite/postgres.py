"""A private PostgreSQL for one test run: in a temporary folder, on a Unix socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from config.supervisor import linux
from tests.support.waiting import wait_until

# Nothing of it outlives the run, so nothing needs to reach the disk.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "max_connections=60")


def not_root() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: whom it runs as instead, for `subprocess`."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def made_cluster(programs: Path, folder: Path, who: dict[str, Any]) -> Path:
    data = folder / "data"
    if who:
        os.chown(folder, who["user"], who["group"])
    command = [programs / "initdb", "-D", data, "-U", "rank37", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, **who)
    assert made.returncode == 0, made.stderr
    return data


def answers(programs: Path, folder: Path) -> bool:
    asked = subprocess.run([programs / "pg_isready", "-q", "-h", folder, "-U", "rank37"], cwd=folder)
    return asked.returncode == 0


@contextmanager
def running_postgres(programs: Path) -> Iterator[str]:
    """The DATABASE_URL of a server that answers."""
    folder, who = Path(tempfile.mkdtemp(prefix="r37-pg-")), not_root()
    try:
        data = made_cluster(programs, folder, who)
        options = [part for option in FAST for part in ("-c", option)]
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, *options],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("w"),
            preexec_fn=linux.die_with_parent(signal.SIGINT, os.getpid()),
            **who,
        )
        try:
            wait_until("PostgreSQL answers", lambda: answers(programs, folder))
            yield f"postgresql://rank37@{quote(str(folder), safe='')}/postgres"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
