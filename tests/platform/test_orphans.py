"""A worker whose supervisor was killed does not stay, whatever its own shutdown waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from config import paths
from tests.support.processes import alive
from tests.support.waiting import wait_until

DEAF = """
import os, signal, threading, time
from pathlib import Path
from config.supervisor import linux
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=linux.leave_once_orphaned, args=(os.getppid(), 0.1, 0.05), daemon=True).start()
Path({file!r}).write_text(str(os.getpid()))
time.sleep(120)
"""
PARENT = """
import subprocess, sys, time
from pathlib import Path
subprocess.Popen([sys.executable, "-c", {deaf!r}])
while not Path({file!r}).exists() or not Path({file!r}).read_text():
    time.sleep(0.02)
time.sleep({stays_s})
"""


def started(file: Path, stays_s: float) -> subprocess.Popen[bytes]:
    deaf = DEAF.format(file=str(file))
    code = PARENT.format(deaf=deaf, file=str(file), stays_s=stays_s)
    return subprocess.Popen([sys.executable, "-c", code], cwd=paths.BASE_DIR)


def test_a_process_that_ignores_its_end_leaves_once_its_parent_is_gone(tmp_path: Path):
    parent = started(tmp_path / "pid", 0)
    assert parent.wait(30) == 0
    pid = int((tmp_path / "pid").read_text())
    wait_until("the orphan is gone", lambda: not alive(pid), within_s=20)


def test_it_stays_as_long_as_its_parent_does(tmp_path: Path):
    parent = started(tmp_path / "pid", 60)
    file = tmp_path / "pid"
    wait_until("the child runs", lambda: file.exists() and file.read_text() != "", within_s=20)
    pid = int(file.read_text())
    try:
        assert parent.poll() is None and alive(pid)
    finally:
        parent.kill()
        parent.wait()
    wait_until("the orphan is gone", lambda: not alive(pid), within_s=20)
