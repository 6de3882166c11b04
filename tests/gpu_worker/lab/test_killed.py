"""Whatever is killed, and whenever: nothing of the run is left, and the lab can be used at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.lab.lock import machine_lock
from gpu_worker.specs import Job, Setting
from tests.gpu_worker.lab.conftest import spec_for
from tests.gpu_worker.lab.leftovers import end_all, marked
from tests.support.waiting import wait_until

pytestmark = pytest.mark.lab

MARK = "RANK37_TEST_MARK"
ROOT = Path(__file__).resolve().parents[3]


class Owner:
    """A marked process that runs an experiment; all that it starts carries its mark in the environment."""

    def __init__(self, folder: Path) -> None:
        self.mark = f"{MARK}={uuid.uuid4().hex}"
        self.folder = folder
        spec = spec_for("job", setting=Setting(job=Job(measured_steps=100)))
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.gpu_worker.lab.owner", spec.model_dump_json(by_alias=True)],
            cwd=ROOT,
            env={**os.environ, name: value, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def reach(self, phase: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == phase:
                return
        raise AssertionError(f"the run ended before it was {phase}")

    def family(self) -> dict[int, int]:
        """pid -> parent's pid of every living process that carries the mark."""
        return marked(self.mark)

    def child_of(self, pid: int) -> int:
        return wait_until(
            f"process {pid} has a child",
            lambda: next((child for child, parent in self.family().items() if parent == pid), 0),
        )


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    started = Owner(tmp_path)
    yield started
    end_all(started.mark)
    started.process.wait()
    assert started.process.stdout is not None
    started.process.stdout.close()


def nothing_is_left(owner: Owner) -> None:
    wait_until("every process of the run is gone", lambda: not owner.family(), within_s=20)
    assert {entry.name for entry in owner.folder.iterdir()} <= {"rank37-lab.lock"}


@pytest.mark.parametrize("phase", ["starting", "fabric", "ranks", "measuring"])
def test_a_killed_owner_leaves_nothing(owner, phase):
    owner.reach(phase)
    owner.process.kill()
    owner.process.wait()
    nothing_is_left(owner)


@pytest.mark.parametrize("generations", [1, 2, 3], ids=["launcher", "keeper", "conductor"])
def test_a_killed_part_ends_the_run_with_a_reason_and_leaves_nothing(owner, generations):
    owner.reach("measuring")
    victim = owner.process.pid
    for _ in range(generations):
        victim = owner.child_of(victim)
    os.kill(victim, signal.SIGKILL)
    assert owner.process.wait(timeout=30) == 1
    nothing_is_left(owner)


def test_a_killed_rank_ends_the_run_with_a_reason_and_leaves_nothing(owner):
    owner.reach("measuring")
    launcher = owner.child_of(owner.process.pid)
    conductor = owner.child_of(owner.child_of(launcher))
    os.kill(owner.child_of(conductor), signal.SIGKILL)
    assert owner.process.wait(timeout=30) == 1
    nothing_is_left(owner)


def test_the_lock_is_free_after_its_holder_was_killed(owner, monkeypatch):
    owner.reach("fabric")
    owner.process.kill()
    owner.process.wait()
    monkeypatch.setattr("tempfile.tempdir", str(owner.folder))
    with machine_lock(limit_s=10):
        pass
    nothing_is_left(owner)
