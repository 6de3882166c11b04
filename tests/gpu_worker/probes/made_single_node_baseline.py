"""A plausible single-node baseline, made by hand from two jobs."""

from __future__ import annotations

from gpu_worker.specs import ExperimentSpec, WholeRun
from tests.gpu_worker.probes.conftest import SETTING, made_job


def healthy(lost_s: float = 0.1) -> WholeRun:
    """The job as placed, and the same on one host `lost_s` sooner."""
    job = made_job()
    packed = [
        {**rank, "steps": [{**step, "total_s": step["total_s"] - lost_s} for step in rank["steps"]]}
        for rank in made_job().ranks
    ]
    spec = ExperimentSpec(experiment="single-node-baseline", setting=SETTING)
    return job.model_copy(update={"spec": spec, "ranks": [], "recorded": {"placed": job.ranks, "packed": packed}})
