"""The training job as it runs, and again on batches that are made on the spot instead of read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.job import BODY
from gpu_worker.jobs.records import job_ranks, rounded
from gpu_worker.jobs.shape import reduced_bytes

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

MADE_UP_BODY = "gpu_worker.jobs.device:run_on_made_up_batches"


def phases(setup: Setup) -> tuple[Phase, ...]:
    """Both phases have the job of the setting and its faults; the second one reads nothing."""
    size = reduced_bytes(setup.job)
    made_up = setup.job.model_copy(update={"synthetic": True})
    return (
        Phase("job", setup.hosts, setup.job, BODY, fed=True, rank_job=setup.rank_job, size_bytes=size),
        Phase("synthetic", setup.hosts, made_up, MADE_UP_BODY, fed=True, rank_job=setup.rank_job, size_bytes=size),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`ranks` of the job as it runs; `recorded.synthetic` the ranks of the other phase, each with its `device`."""
    ranks = raw["phases"][1]["ranks"]
    synthetic = job_ranks(plan.phases[1], ranks)
    for kept, measured in zip(synthetic, ranks, strict=True):
        kept["device"] = {
            "flops_per_cpu_s": round(measured["device"]["flops_per_cpu_s"]),
            "launch_cpu_s": round(measured["device"]["launch_cpu_s"], 9),
            "operations": rounded(measured["device"]["operations"]),
        }
    return {"ranks": job_ranks(plan.phases[0], raw["ranks"]), "recorded": {"synthetic": synthetic}}


EXPERIMENT = Experiment(
    id="synthetic-batch",
    title="The job with batches made on the spot",
    nominal_s=25.0,
    choices={},
    phases=phases,
    record=record,
)
