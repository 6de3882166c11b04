"""A plausible host swap, made by hand from two jobs."""

from __future__ import annotations

from typing import Any

from gpu_worker.specs import ExperimentSpec, WholeRun
from tests.gpu_worker.probes.conftest import SETTING, made_job

EXCHANGED = (1, 0, 3, 2)
Slow = dict[int, dict[str, float]]


def swapped(before: Slow | None = None, after: Slow | None = None, hosts: tuple[int, ...] = EXCHANGED) -> WholeRun:
    """The job as placed and on exchanged hosts; `before` and `after` set phases of slow ranks, as in `made_job`."""
    first, second = made_job(slow=before), made_job(slow=after, placement=hosts)
    spec = ExperimentSpec(experiment="host-swap", setting=SETTING)
    recorded: dict[str, Any] = {"before": first.ranks, "after": second.ranks}
    return first.model_copy(update={"spec": spec, "ranks": [], "recorded": recorded})
