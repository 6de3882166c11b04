"""The job as placed, and then all its ranks packed on one host, where its collectives take the loopback.

`recorded` is {"placed": [a rank as in WholeRun.ranks], "packed": the same}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.job import job_phase, ranks_by_phase

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

NAMES = ("placed", "packed")


def phases(setup: Setup) -> tuple[Phase, ...]:
    placed = job_phase(setup)
    one_host = (placed.hosts[0],) * len(placed.hosts)
    return placed, replace(placed, name="packed", hosts=one_host, packed=True)


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"recorded": dict(zip(NAMES, ranks_by_phase(plan, raw), strict=True))}


EXPERIMENT = Experiment(
    id="single-node-baseline",
    title="The job as placed and on one host",
    nominal_s=20.0,
    choices={},
    phases=phases,
    record=record,
)
