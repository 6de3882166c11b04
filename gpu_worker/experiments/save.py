"""A job that saves two generations; what lies in the storage afterwards, and what saving cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments._checkpoint import saved, saving_phases
from gpu_worker.experiments.base import Experiment, Phase, Setup

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

SAVES = (4, 6)
LAST_STEP = 7


def phases(setup: Setup) -> tuple[Phase, ...]:
    return tuple(saving_phases(setup, "wide", SAVES, LAST_STEP, sums=False, restored=False))


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    kept = saved(raw)
    return {"recorded": {name: value for name, value in kept.items() if name != "checksums"}}


EXPERIMENT = Experiment(
    id="save", title="Two saves, as the job makes them", nominal_s=10.0, choices={}, phases=phases, record=record
)
