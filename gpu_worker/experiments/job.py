"""The training job, as it runs. Most probes read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.records import job_ranks
from gpu_worker.jobs.shape import reduced_bytes

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.loop:run_job"


def phases(setup: Setup) -> tuple[Phase, ...]:
    return (
        Phase(
            name="job",
            hosts=setup.hosts,
            job=setup.job,
            rank_job=setup.rank_job,
            body=BODY,
            fed=True,
            size_bytes=reduced_bytes(setup.job),
        ),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"ranks": job_ranks(plan.phases[0], raw["ranks"])}


EXPERIMENT = Experiment(
    id="job", title="The training job as it runs", nominal_s=15.0, choices={}, phases=phases, record=record
)
