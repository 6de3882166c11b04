"""A plausible run of the experiment `synthetic-batch`, made by hand from two jobs."""

from __future__ import annotations

from typing import Any

from gpu_worker.jobs.shape import DIMENSIONS
from gpu_worker.specs import ExperimentSpec, WholeRun
from tests.gpu_worker.probes.conftest import SETTING, made_job


def healthy(input_s: float = 0.01, kernel_share: float = 0.7, work_per_launch: float = 110.0) -> WholeRun:
    """Both phases of four ranks; the first waits for its input, and compute holds so much of the device's rate."""
    as_is = made_job(slow={rank: {"input_s": input_s} for rank in range(4)})
    synthetic = [_with_device(rank, kernel_share, work_per_launch) for rank in made_job().ranks]
    spec = ExperimentSpec(experiment="synthetic-batch", setting=SETTING)
    return as_is.model_copy(update={"spec": spec, "recorded": {"synthetic": synthetic}})


def _with_device(rank: dict[str, Any], kernel_share: float, work_per_launch: float) -> dict[str, Any]:
    steps = [{**step, "tokens": step["samples"] * DIMENSIONS.context} for step in rank["steps"]]
    compute_s = rank["telemetry"]["cpu_s"] / len(steps)
    flops = DIMENSIONS.step_flops(steps[0]["samples"])
    device = {
        "flops_per_cpu_s": flops / kernel_share / compute_s,
        "launch_cpu_s": compute_s / 1000 / work_per_launch,
        "operations": 1000,
    }
    return {**rank, "steps": steps, "device": device}
