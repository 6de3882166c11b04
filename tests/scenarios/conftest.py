"""The flagship and its real bank."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from gpu_worker.models import SelfCheck, WorkerHeartbeat
from gpu_worker.serving import liveness
from gpu_worker.serving.queue import LAB_NEEDS
from scenarios import bank, library
from scenarios.format import Scenario
from scenarios.instances import Instance


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    return library.get("slow-all-reduce")


@pytest.fixture(scope="session")
def banked(scenario: Scenario) -> dict[str, Instance]:
    """One complete instance of each cause, and a healthy one."""
    found: dict[str, Instance] = {}
    for instance in bank.complete_instances(scenario):
        found.setdefault(instance.cause, instance)
    assert set(found) == {*scenario.prior, "healthy"}, "the bank lacks a cause"
    return found


@pytest.fixture
def instance(banked: dict[str, Instance]) -> Instance:
    return banked["degraded-link"]


@pytest.fixture
def lab_is_live(db: None) -> Callable[[datetime], None]:
    """Rows that say that a self-checked lab worker of this machine is alive at a moment."""

    def live(at: datetime) -> None:
        SelfCheck.objects.get_or_create(machine=liveness.machine_id(), ok=True, defaults={"at": at})
        WorkerHeartbeat.objects.update_or_create(
            worker="w",
            defaults={
                "machine": liveness.machine_id(),
                "scope": "elsewhere",
                "pid": 1,
                "at": at,
                "started_at": at,
                "capabilities": {name: {"available": True} for name in LAB_NEEDS},
            },
        )

    return live
