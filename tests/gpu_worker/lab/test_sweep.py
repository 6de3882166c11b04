"""The sweep ends what dead runs left, by the id of their launcher, and nothing else. On a /proc made by hand."""

from __future__ import annotations

import os
import signal

import pytest

from gpu_worker.lab import sweep

OWNER = 100


class Proc:
    """A folder like /proc: processes with a parent, a beginning, a user and arguments."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, pid, parent, words, *, began=5, user=None):
        entry = self.folder / str(pid)
        entry.mkdir()
        entry.joinpath("cmdline").write_bytes(b"\0".join(word.encode() for word in words) + b"\0")
        entry.joinpath("status").write_text(f"Name:\tpython3\nUid:\t{os.getuid() if user is None else user}\t0\t0\t0\n")
        between = " ".join(["0"] * 17)
        entry.joinpath("stat").write_text(f"{pid} (a name) with) S {parent} {between} {began} 0\n")

    def launcher(self, pid, parent, *, run="a1", owner=f"{OWNER}@5", **more):
        self.add(pid, parent, ["/usr/bin/python3", "-m", sweep.LAUNCHER_MODULE, run, owner], **more)


@pytest.fixture
def proc(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "PROC", tmp_path)
    made = Proc(tmp_path)
    made.add(OWNER, 1, ["python", "manage.py", "lab"])
    return made


def found():
    return {orphan.pid: orphan.what for orphan in sweep.orphans()}


def test_what_a_living_owner_runs_is_left_alone(proc):
    proc.launcher(200, OWNER)
    proc.launcher(201, 200)  # a keeper
    proc.launcher(202, 201)  # its conductor
    assert found() == {}


def test_a_launcher_whose_owner_is_gone_is_an_orphan_whoever_adopted_it(proc):
    proc.launcher(200, 77, owner="99@5")
    assert found() == {200: "its owner is gone"}


def test_a_later_process_with_the_owners_number_is_not_its_owner(proc):
    proc.launcher(200, OWNER, owner=f"{OWNER}@4")
    assert found() == {200: "its owner is gone"}


def test_a_run_that_outlived_its_launcher_is_an_orphan_though_the_owner_lives(proc):
    proc.launcher(201, 1)
    proc.launcher(202, 201)
    proc.launcher(300, OWNER, run="b2")
    assert found() == {201: "its launcher is gone", 202: "its launcher is gone"}


def test_others_processes_and_those_that_only_look_alike_are_left_alone(proc):
    proc.launcher(200, 1, owner="99@5", user=os.getuid() + 1)
    proc.add(201, 1, ["python", "-m", "gpu_worker.launcher.process_of_mine", "a1", "99@5"])
    proc.add(202, 1, ["vi", "gpu_worker/launcher/process.py"])
    assert found() == {}


def test_a_sweep_ends_the_orphans_and_says_of_which_run_they_were(proc, monkeypatch):
    ended = []
    monkeypatch.setattr(os, "kill", lambda pid, number: ended.append((pid, number)))
    proc.launcher(200, 1, run="c3", owner="99@5")
    (orphan,) = sweep.sweep()
    assert orphan.launcher == "c3"
    assert ended == [(200, signal.SIGKILL)]
