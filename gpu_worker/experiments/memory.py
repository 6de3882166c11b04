"""Where memory goes under plain DDP and under FSDP2: the same model, on the same ranks, one after the other.

`recorded` is {"ddp": [a rank: {held, step, gather, staging}], "fsdp2": the same}; see gpu_worker.jobs.memory_run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.job import job_phase

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.memory_run:run_memory"
FORMS = ("ddp", "fsdp2")
KEPT = ("held", "step", "gather", "staging")


def phases(setup: Setup) -> tuple[Phase, ...]:
    plain = replace(job_phase(setup), body=BODY)
    return tuple(_of_form(plain, form) for form in FORMS)


def _of_form(phase: Phase, form: str) -> Phase:
    parallel = phase.job.parallel.model_copy(update={"form": form})
    return replace(phase, name=form, job=phase.job.model_copy(update={"parallel": parallel}))


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    taken = zip(FORMS, raw["phases"], strict=True)
    return {"recorded": {form: [{n: rank[n] for n in KEPT} for rank in phase["ranks"]] for form, phase in taken}}


EXPERIMENT = Experiment(
    id="memory", title="Memory under DDP and FSDP2", nominal_s=20.0, choices={}, phases=phases, record=record
)
