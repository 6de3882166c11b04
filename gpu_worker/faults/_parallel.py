"""What the faults of parallel plans share: the form that they need, and how a field of it is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec
from gpu_worker.faults.base import Changes, Trial, trained
from gpu_worker.specs import Fault, Job, Parallel, Setting, Topology


def changed(setting: Setting, fault: Fault, form: str, **fields: Any) -> Changes:
    """The job's plan with some fields changed. Raises BadSpec where the job has another form."""
    parallel = setting.job.parallel
    if parallel.form != form:
        raise BadSpec(
            f"fault {fault.cause} needs a job laid out as {form}, not {parallel.form}; set job.parallel.form to {form}"
        )
    return Changes(job={"parallel": {**parallel.model_dump(), **fields}})


def trial(parallel: Parallel, topology: Topology, *, ranks: int = 4, microbatch: int = 8, **more: Any) -> Trial:
    """A trial of a fault on a job of this plan, whose healthy form is the same with nothing changed."""
    job = Job(parallel=parallel, microbatch=microbatch)
    placement = tuple(range(ranks))
    setting = Setting(topology=topology, placement=placement, baseline_placement=placement, job=job, baseline_job=job)
    return Trial(setting=setting, **more)


def ran_job(raw: Mapping[str, Any], form: str) -> bool:
    """Whether the run's main phase trained in this form, so that its ranks tell of the fault."""
    return raw["job"]["parallel"]["form"] == form and trained(raw)


def steps_of(raw: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """The measured steps of each rank."""
    return [rank["steps"] for rank in raw["ranks"]]
