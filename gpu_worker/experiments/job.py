"""The training job, as it runs. Most probes read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.records import job_ranks
from gpu_worker.jobs.shape import TENSOR_DIMENSIONS, reduced_bytes, stage_layers
from gpu_worker.specs import Job

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.loop:run_job"
PARALLEL_BODY = "gpu_worker.jobs.parallel.loop:run_parallel_job"


def job_phase(setup: Setup) -> Phase:
    """The job as it runs. Raises BadSpec where its ranks cannot be laid out as its form asks."""
    check_layout(setup.job, len(setup.hosts))
    return Phase(
        name="job",
        hosts=setup.hosts,
        job=setup.job,
        rank_job=setup.rank_job,
        body=BODY if setup.job.parallel.form == "ddp" else PARALLEL_BODY,
        fed=True,
        size_bytes=reduced_bytes(setup.job),
    )


def check_layout(job: Job, ranks: int) -> None:
    """Raises BadSpec where the groups of a form do not divide the ranks, or its parts the model."""
    parallel = job.parallel
    size = parallel.group or ranks
    if parallel.form in ("ddp", "fsdp2"):
        return
    if ranks % size:
        raise BadSpec(f"job: groups of {size} do not divide {ranks} ranks; set parallel.group to a divisor")
    if parallel.form == "tensor" and TENSOR_DIMENSIONS.heads % size:
        raise BadSpec(f"job: {TENSOR_DIMENSIONS.heads} heads do not divide over tensor groups of {size}")
    if parallel.form == "expert" and parallel.hot_expert >= size:
        raise BadSpec(f"job: there is no expert {parallel.hot_expert}; a group of {size} has 0 to {size - 1}")
    if parallel.form == "pipeline":
        try:
            stage_layers(size, parallel.last_stage_layers)
        except ValueError as problem:
            raise BadSpec(f"job: {problem}") from None
        if job.microbatch * size % parallel.microbatches:
            raise BadSpec(
                f"job: {job.microbatch * size} samples do not divide into {parallel.microbatches} microbatches"
            )


def ranks_by_phase(plan: RunPlan, raw: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """For an experiment that runs the job in each of its phases: the ranks of every phase, as in WholeRun.ranks."""
    return [job_ranks(phase, taken["ranks"]) for phase, taken in zip(plan.phases, raw["phases"], strict=True)]


def phases(setup: Setup) -> tuple[Phase, ...]:
    return (replace(job_phase(setup), afterwards=True),)


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"ranks": job_ranks(plan.phases[0], raw["ranks"])}


EXPERIMENT = Experiment(
    id="job", title="The training job as it runs", nominal_s=15.0, choices={}, phases=phases, record=record
)
