"""The keeper's loop with real, small children: it restarts, gives up by name, and ends what is left below it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import paths

# In a process of its own: the keeper takes signals and adopts orphans.
LOOP = """
import os, signal, sys, time
from pathlib import Path
from config.supervisor import backoff, linux
from config.supervisor.child import Child
from config.supervisor.keeper import Keeper
from config.supervisor.plan import Service

backoff.FIRST_DELAY_S = 0.01
folder = Path(sys.argv[1])

def child(name, script, essential, answers=lambda pid: False, **more):
    command = ("sh", "-c", script)
    service = Service(name, command, essential, without_it="the rest works", **more)
    return Child(service, folder / f"{name}.log", dict(os.environ), answers)

linux.adopt_orphans()
"""


def run(tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LOOP + script, str(tmp_path)],
        cwd=paths.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_child_that_keeps_ending_is_named_with_its_log_and_last_words(tmp_path: Path):
    done = run(
        tmp_path,
        "broken = child('web', 'echo it is broken; exit 3', essential=True)\n"
        "keeper = Keeper([broken]); keeper.listen(); broken.start()\n"
        "print(keeper.run(until=lambda: False), keeper.failed); keeper.stop()\n",
    )
    lines = done.stdout.splitlines()
    assert sum("web ended (exit code 3); starting it again" in line for line in lines) == 4
    assert f"web keeps ending (exit code 3): the rest works. Log: {tmp_path}/web.log (it is broken)" in lines
    assert lines[-1] == "False True"


def test_what_is_not_essential_is_given_up_and_the_rest_goes_on(tmp_path: Path):
    done = run(
        tmp_path,
        "broken = child('lab', 'exit 1', essential=False)\n"
        "good = child('web', 'exec sleep 100', essential=True, answers=lambda pid: True)\n"
        "keeper = Keeper([broken, good]); keeper.listen(); broken.start(); good.start()\n"
        "print(keeper.run(until=keeper.all_settled), keeper.failed, good.process.poll()); keeper.stop()\n",
    )
    assert done.stdout.splitlines()[-1] == "True False None"


@pytest.mark.parametrize(("essential", "then"), [(True, "False True"), (False, "True False")])
def test_a_child_that_does_not_answer_in_time_is_told_of(tmp_path: Path, essential: bool, then: str):
    done = run(
        tmp_path,
        f"late = child('web', 'exec sleep 100', essential={essential}, ready_within_s=0.3)\n"
        "keeper = Keeper([late]); keeper.listen(); late.start()\n"
        "print(keeper.run(until=keeper.all_settled), keeper.failed); keeper.stop()\n",
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("web has not answered in 0 s: the rest works.")
    assert lines[-1] == then


def test_what_a_dead_child_leaves_behind_is_ended(tmp_path: Path):
    """A grandchild in a session of its own, which no signal to a group would reach."""
    done = run(
        tmp_path,
        "script = f'setsid sleep 1000 & echo $! > {folder}/orphan; exec sleep 1000'\n"
        "good = child('lab', script, essential=False, answers=lambda pid: (folder / 'orphan').exists())\n"
        "keeper = Keeper([good]); keeper.listen(); good.start(); keeper.run(until=keeper.all_settled)\n"
        "orphan = int((folder / 'orphan').read_text())\n"
        "good.process.kill(); good.process.wait()\n"
        "def gone():\n"
        "    return not Path(f'/proc/{orphan}').exists()\n"
        "print(keeper.run(until=gone)); keeper.stop()\n",
    )
    assert done.stdout.splitlines()[-1] == "True", done.stderr


def test_a_child_that_ignores_the_stop_is_killed(tmp_path: Path):
    done = run(
        tmp_path,
        "deaf = child('web', \"trap '' TERM; echo ready; while :; do sleep 1; done\", essential=True,"
        " answers=lambda pid: 'ready' in (folder / 'web.log').read_text(), stop_within_s=0.3)\n"
        "keeper = Keeper([deaf]); keeper.listen(); deaf.start(); keeper.run(until=keeper.all_settled)\n"
        "keeper.stop(); print(deaf.process.returncode, len(linux.descendants_of(os.getpid())))\n",
    )
    assert done.stdout.splitlines()[-1] == "-9 0"


def test_a_long_log_is_kept_once_and_begun_anew(tmp_path: Path):
    from config.supervisor import child

    log = tmp_path / "web.log"
    log.write_bytes(b"x" * (child.LONGEST_LOG_BYTES + 1))
    os.close(child.open_log(log))
    assert log.stat().st_size == 0
    assert (tmp_path / "web.1.log").stat().st_size == child.LONGEST_LOG_BYTES + 1
