"""The fabric that is kept ready between runs: fresh for each, at the rates of whichever run takes it."""

from __future__ import annotations

import os

import pytest

from gpu_worker.fabric.plan import at_nominal_rates, plan_fabric, same_but_rates
from gpu_worker.lab import run as lab
from gpu_worker.lab.sweep import processes
from gpu_worker.specs import Fault, Setting, Topology, WholeRun

FLAT = Setting(topology=Topology(kind="flat", hosts=2), placement=(0, 1))
DEGRADED = Fault(cause="degraded-link", place="link:host1-switch", params={"rate": 50e6})


def rates(run: WholeRun) -> dict[str, int]:
    return {way: rate for link in run.fabric["links"] for way, rate in link["rate"].items()}


def test_fabrics_that_differ_in_rates_alone_are_the_same_to_build():
    healthy = plan_fabric(Topology())
    degraded = plan_fabric(Topology(far_uplink_rate=150_000_000), {"host1-leaf0": 100_000_000})
    assert same_but_rates(healthy, degraded)
    assert at_nominal_rates(degraded).cable("host1-leaf0").a.rate == 400_000_000
    assert not same_but_rates(healthy, plan_fabric(Topology(spines=3)))


def small(*faults: Fault, setting: Setting = FLAT, repeats: int) -> dict:
    return {"setting": setting, "faults": faults, "repeats": repeats, "size_bytes": 1_000_000}


@pytest.mark.lab
def test_the_next_run_gets_a_fresh_fabric_at_its_own_rates_whatever_the_last_one_broke(run):
    first = run("microbenchmark", **small(repeats=1))
    broken = run("microbenchmark", **small(DEGRADED, repeats=2))
    healthy = run("microbenchmark", **small(repeats=3))
    assert broken.fabric["kept_ready"] and healthy.fabric["kept_ready"]
    assert rates(broken)["host1->switch"] == rates(broken)["switch->host1"] == 50_000_000
    assert rates(healthy) == rates(first)
    assert broken.iterations[0]["seconds"] > 2 * healthy.iterations[0]["seconds"]


@pytest.mark.lab
def test_a_fabric_of_another_shape_is_built_anew(run):
    run("microbenchmark", **small(repeats=1))
    three = Setting(topology=Topology(kind="flat", hosts=3), placement=(0, 1, 2))
    assert not run("microbenchmark", **small(setting=three, repeats=1)).fabric["kept_ready"]


@pytest.mark.lab
def test_a_fabric_that_was_killed_while_it_waited_is_replaced(run):
    run("microbenchmark", **small(repeats=4))
    launcher = lab.launcher_pid()
    keepers = [one.pid for one in processes().values() if one.parent == launcher]
    for pid in keepers:
        os.kill(pid, 9)
    assert keepers
    assert not run("microbenchmark", **small(repeats=5)).fabric["kept_ready"]
