"""Whether a fault can change anything of an experiment, by what the experiment is made of. Pure.

Where it cannot, the run with the fault and the run without it are the same run: one of them answers for both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpu_worker.experiments.base import Phase
from gpu_worker.lab.plan import RunPlan, plan_run
from gpu_worker.specs import ExperimentSpec, Job

# Bodies of phases in which the training job's own step runs.
TRAINING = (
    "gpu_worker.jobs.loop",
    "gpu_worker.jobs.parallel.loop",
    "gpu_worker.jobs.device",
    "gpu_worker.jobs.memory_run",
)
# Fields of the job that only that step reads; a test looks for them in everything that the other bodies import.
READ_BY_THE_STEP = frozenset(
    {
        "microbatch",
        "measured_steps",
        "warmup_steps",
        "overlap",
        "bucket_cap_mb",
        "first_bucket_mb",
        "gradient_as_bucket_view",
        "script",
        "accumulation",
        "blocking_reads",
        "slow_blocks",
        "rows_a_kernel",
        "extra_backward",
        "windows",
        "length_spread",
        "same_shard",
        "loader_workers",
        "prefetch",
        "decode_passes",
        "synthetic",
        "parallel",
    }
)


def is_touched(spec: ExperimentSpec) -> bool:
    """Whether the spec's faults can change its run. In doubt they can: what is done while ranks run always counts.

    Raises BadSpec where the spec cannot be planned.
    """
    return bool(spec.faults) and what_counts(plan_run(spec)) != what_counts(plan_run(without_faults(spec)))


def without_faults(spec: ExperimentSpec) -> ExperimentSpec:
    return spec.model_copy(update={"faults": ()})


def what_counts(plan: RunPlan) -> dict[str, Any]:
    """What the launcher is told, without what nothing in the run reads."""
    counts: dict[str, Any] = {"acts": plan.acts, "phases": [_phase(phase) for phase in plan.phases]}
    if any(phase.fed for phase in plan.phases):
        counts |= {"sources": plan.source_rates, "shared": plan.shared_sources}
    if not all(phase.packed and not phase.stored for phase in plan.phases):  # else a loopback carries everything
        counts |= {"fabric": plan.fabric, "must_cross": plan.must_cross, "collide": plan.collide}
    return counts


def _phase(phase: Phase) -> tuple[Any, ...]:
    unread = frozenset() if trains(phase) else READ_BY_THE_STEP
    job = {name: value for name, value in phase.job if name not in unread}
    by_rank = {
        rank: own
        for rank, changed in phase.rank_job.items()
        if (own := {name: value for name, value in changed.items() if name not in unread})
    }
    return replace(phase, job=Job(), rank_job={}), job, by_rank


def trains(phase: Phase) -> bool:
    return phase.body.partition(":")[0] in TRAINING
