"""The palette: every diagnostic step, in the order in which pages show them, with its price.

All scenarios share it, so that its contents give nothing away. A step is offered only where a probe measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_worker.probes import PROBES
from scenarios.errors import did_you_mean


@dataclass(frozen=True)
class Step:
    """A step's place in the palette: its price in minutes of cluster time, and whether the job must stop for it."""

    id: str
    price_min: float
    stops_job: bool = False


STEPS: dict[str, Step] = {
    step.id: step
    for step in (
        Step("per-rank-step-times", 3),
        Step("collective-arrivals", 4),
        Step("host-telemetry", 8),
        Step("input-timings", 8),
        Step("memory-by-rank", 4),
        Step("microbenchmark", 8, stops_job=True),
        Step("microbenchmark-sweep", 15, stops_job=True),
        Step("pairwise-bandwidth", 20, stops_job=True),
        Step("link-rates", 12),
        Step("link-error-counters", 12),
        Step("link-utilisation", 10),
        Step("placement-map", 10),
        Step("path-map", 15),
        Step("library-choices", 10),
        Step("change-log", 20),
        Step("overlap-trace", 12),
        Step("bucket-sizes", 12),
        Step("single-node-baseline", 15, stops_job=True),
        Step("scaling-ladder", 25, stops_job=True),
        Step("synthetic-batch", 12, stops_job=True),
        Step("host-swap", 25, stops_job=True),
        Step("collective-log", 4),
        Step("stack-dump", 5),
        Step("rank-logs", 3),
        Step("checkpoint-manifest", 4),
        Step("checkpoint-contents", 5),
        Step("resume-replay", 20, stops_job=True),
        Step("sample-order", 6),
        Step("schedule-position", 3),
        Step("batch-identity", 3),
        Step("parameter-checksums", 8),
        Step("save-timings", 6),
        Step("storage-throughput", 8),
    )
}


def offered() -> list[str]:
    """Ids of the steps that can be measured here, in palette order."""
    return [id for id in STEPS if id in PROBES]


def probe_of(step: str) -> Any:
    """The probe that measures a step. Raises KeyError with a repair where there is none."""
    if step not in STEPS:
        raise KeyError(f'step "{step}" is not in the palette{did_you_mean(step, STEPS)}')
    if step not in PROBES:
        raise KeyError(f'step "{step}" cannot be measured yet{did_you_mean(step, offered())}')
    return PROBES[step]
