"""The job on 1, 2, 4, … ranks of its own, up to all of them, with the same fabric and the same faults.

Strong: the global batch stays the job's, and fewer ranks have more of it each. Weak: each rank keeps its batch. Warm-up
and measured steps of each rung are the job's. `recorded` is {"rungs": [[a rank as in WholeRun.ranks], …]}, the largest
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.job import check_layout, job_phase, ranks_by_phase
from gpu_worker.specs import Job

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan


def rungs(ranks: int) -> list[int]:
    """All ranks, then each power of two below, down to one."""
    return [ranks, *(1 << power for power in reversed(range((ranks - 1).bit_length())))]


def phases(setup: Setup) -> tuple[Phase, ...]:
    """The largest rung comes first: it is the job as it runs, and what the faults' proofs read."""
    whole = job_phase(setup)
    return tuple(_rung(whole, count, setup.spec.with_["kind"]) for count in rungs(len(setup.hosts)))


def _rung(whole: Phase, count: int, kind: str) -> Phase:
    job = whole.job
    if kind == "strong":
        job = job.model_copy(update={"microbatch": _share(job, len(whole.hosts), count)})
    check_layout(job, count)
    own = {rank: changed for rank, changed in whole.rank_job.items() if rank < count}
    return replace(whole, name=f"{count} ranks", hosts=whole.hosts[:count], job=job, rank_job=own)


def _share(job: Job, ranks: int, count: int) -> int:
    """Samples a rank where `count` ranks share the batch of all. Raises BadSpec."""
    batch, most = job.microbatch * ranks, 64
    if batch % count or batch // count > most:
        raise BadSpec(
            f"a batch of {batch} does not divide over {count} ranks with at most {most} samples each; "
            "choose another microbatch, or kind=weak"
        )
    return batch // count


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"recorded": {"rungs": ranks_by_phase(plan, raw)}}


EXPERIMENT = Experiment(
    id="scaling-ladder",
    title="The job on ever fewer ranks",
    nominal_s=40.0,
    choices={"kind": ("strong", "weak")},
    phases=phases,
    record=record,
)
