"""A plausible scaling ladder, made by hand from jobs."""

from __future__ import annotations

from typing import Any

from gpu_worker.specs import ExperimentSpec, WholeRun
from tests.gpu_worker.probes.conftest import SETTING, made_job


def healthy(kind: str = "weak", *, exposed_s: float = 0.3, growth: float = 1.0) -> WholeRun:
    """The job on 4, 2 and 1 ranks: no communication on one, `exposed_s` on more, compute grown on the largest."""
    job = made_job()
    rungs = [[_on_rung(rank, count, exposed_s, growth) for rank in job.ranks[:count]] for count in (4, 2, 1)]
    spec = ExperimentSpec(experiment="scaling-ladder", with_={"kind": kind}, setting=SETTING)
    return job.model_copy(update={"spec": spec, "ranks": [], "recorded": {"rungs": rungs}})


def _on_rung(rank: dict[str, Any], count: int, exposed_s: float, growth: float) -> dict[str, Any]:
    slower = growth if count == 4 else 1.0
    steps = []
    for step in rank["steps"]:
        compute = {name: step[name] * slower for name in ("forward_s", "backward_s")}
        waits = exposed_s if count > 1 else 0.0
        total = step["input_s"] + sum(compute.values()) + waits + step["optimizer_s"]
        steps.append({**step, **compute, "exposed_s": waits, "total_s": total})
    return {**rank, "steps": steps}
