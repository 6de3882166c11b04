"""One experiment at a time on a machine, and the one that waits says so. Without a lab."""

from __future__ import annotations

import fcntl
import os

import pytest

from gpu_worker.errors import LabUnavailable
from gpu_worker.lab import run as lab
from gpu_worker.lab.lock import LOCK_NAME, machine_lock
from gpu_worker.specs import ExperimentSpec


@pytest.fixture
def held(tmp_path, monkeypatch):
    """A descriptor that holds the machine, as another process's would; the kernel frees the lock with it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / LOCK_NAME).touch()
    descriptor = os.open(tmp_path / LOCK_NAME, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def test_a_measurement_that_waits_for_another_says_so_and_runs_once_it_is_free(held, monkeypatch):
    told = []

    def progress(said):
        told.append(said["phase"])
        if said["phase"] == "waiting":
            os.close(held)

    monkeypatch.setattr(lab, "_run_once", lambda plan, progress: told.append("run"))
    lab.run_experiment(ExperimentSpec(experiment="job"), progress=progress)
    assert told == ["waiting", "run"]


def test_one_that_need_not_wait_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = []
    with machine_lock(1.0, waiting=lambda: told.append("waiting")):
        assert told == []


def test_whoever_waits_too_long_is_told_why(held):
    with pytest.raises(LabUnavailable, match="another experiment held the lab"), machine_lock(0.05):
        pass
    os.close(held)
