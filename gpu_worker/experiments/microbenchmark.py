"""The same all-reduce again and again, with nothing else to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.shape import FLOAT32_BYTES, SMALL_MESSAGE_BYTES, reduced_bytes

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.microbenchmark:run_microbenchmark"


def phases(setup: Setup) -> tuple[Phase, ...]:
    spec = setup.spec
    packed = spec.with_.get("placement") == "packed"
    named = SMALL_MESSAGE_BYTES if spec.with_.get("size") == "small" else reduced_bytes(setup.job)
    return (
        Phase(
            name="microbenchmark",
            hosts=(setup.hosts[0],) * len(setup.hosts) if packed else setup.hosts,
            packed=packed,
            job=setup.job,
            body=BODY,
            size_bytes=(spec.size_bytes or named) // FLOAT32_BYTES * FLOAT32_BYTES,
            repeats=spec.repeats,
        ),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    by_iteration = zip(*(rank["seconds"] for rank in raw["ranks"]), strict=True)
    return {
        "iterations": [
            {"seconds": round(max(seconds), 6), "by_rank": [round(s, 6) for s in seconds]} for seconds in by_iteration
        ]
    }


EXPERIMENT = Experiment(
    id="microbenchmark",
    title="All-reduce alone",
    nominal_s=10.0,
    choices={"size": ("small", "job"), "placement": ("as-job", "packed")},
    phases=phases,
    record=record,
)
