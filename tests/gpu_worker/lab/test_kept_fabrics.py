"""The fabric that is kept ready between runs: fresh for each, at the rates of whichever run takes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_worker.fabric.plan import at_nominal_rates, plan_fabric, same_but_rates
from gpu_worker.lab.plan import plan_run
from gpu_worker.lab.sweep import processes
from gpu_worker.launcher.client import Launcher
from gpu_worker.specs import Fault, Setting, Topology
from tests.gpu_worker.lab.conftest import spec_for
from tests.support.waiting import wait_until

FLAT = Setting(topology=Topology(kind="flat", hosts=2), placement=(0, 1))
DEGRADED = Fault(cause="degraded-link", place="link:host1-switch", params={"rate": 50e6})


def test_fabrics_that_differ_in_rates_alone_are_the_same_to_build():
    healthy = plan_fabric(Topology())
    degraded = plan_fabric(Topology(far_uplink_rate=150_000_000), {"host1-leaf0": 100_000_000})
    assert same_but_rates(healthy, degraded)
    assert at_nominal_rates(degraded).cable("host1-leaf0").a.rate == 400_000_000
    assert not same_but_rates(healthy, plan_fabric(Topology(spines=3)))


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    """Of these tests alone: what it keeps ready depends on the run before."""
    started = Launcher()
    yield started
    started.close()


def order(*faults: Fault, setting: Setting = FLAT) -> dict[str, Any]:
    return plan_run(spec_for("microbenchmark", *faults, setting=setting, repeats=2, size_bytes=1_000_000)).to_order()


def raw(launcher: Launcher, *faults: Fault, setting: Setting = FLAT) -> dict[str, Any]:
    return launcher.run(order(*faults, setting=setting))


def keepers_of(launcher: Launcher) -> set[int]:
    """Of the fabric that it keeps ready, and of the run that it is ending."""
    return {one.pid for one in processes().values() if one.parent == launcher.pid}


def run_and_name_the_next_keeper(launcher: Launcher) -> int:
    """A run's result is sent before its keeper ends: the next fabric's is the one that was not there meanwhile."""
    of_the_run: set[int] = set()
    launcher.run(order(), lambda _: of_the_run.update(keepers_of(launcher)))
    assert of_the_run
    return wait_until("the next fabric has a keeper", lambda: next(iter(keepers_of(launcher) - of_the_run), 0))


def conductors_of(keeper: int) -> list[int]:
    return [one.pid for one in processes().values() if one.parent == keeper]


def stands_still(keeper: int) -> Callable[[], bool]:
    """Whether its conductor did nothing since the last look: the fabric stands, and it waits for a run."""
    seen: list[list[int]] = []

    def look() -> bool:
        seen.append([ticks_of(pid) for pid in conductors_of(keeper)])
        return bool(seen[-1]) and seen[-2:-1] == seen[-1:]

    return look


def ticks_of(pid: int) -> int:
    """Of processor time, user and system."""
    return sum(int(ticks) for ticks in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])


def seconds(raw: dict[str, Any]) -> float:
    return max(rank["seconds"][-1] for rank in raw["phases"][0]["ranks"])


@pytest.mark.lab
def test_the_next_run_gets_a_fresh_fabric_at_its_own_rates_whatever_the_last_one_broke(launcher):
    first, broken, healthy = raw(launcher), raw(launcher, DEGRADED), raw(launcher)
    assert [one["kept_ready"] for one in (first, broken, healthy)] == [False, True, True]
    rates = broken["phases"][0]["rates"]
    assert rates["host1->switch"] == rates["switch->host1"] == 50_000_000
    assert healthy["phases"][0]["rates"] == first["phases"][0]["rates"]
    assert seconds(broken) > 2 * seconds(healthy)


@pytest.mark.lab
def test_a_fabric_of_another_shape_is_built_anew(launcher):
    three = Setting(topology=Topology(kind="flat", hosts=3), placement=(0, 1, 2))
    assert not raw(launcher, setting=three)["kept_ready"]


@pytest.mark.lab
def test_a_fabric_that_was_killed_while_it_waited_is_replaced(launcher):
    os.kill(run_and_name_the_next_keeper(launcher), 9)
    assert not raw(launcher)["kept_ready"]


@pytest.mark.lab
def test_a_fabric_that_was_killed_once_it_was_built_is_replaced(launcher):
    keeper = run_and_name_the_next_keeper(launcher)
    wait_until("its conductor waits for an order", stands_still(keeper), pause_s=0.2)
    (conductor,) = conductors_of(keeper)
    os.kill(keeper, 9)
    wait_until("its conductor is gone", lambda: conductor not in processes())
    assert not raw(launcher)["kept_ready"]
