"""One collective of five again and again, with nothing else to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.shape import FLOAT32_BYTES, GRADIENT_BYTES

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.collectives:run_collectives"
OPS = ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all")


def whole_parts(size_bytes: int, ranks: int) -> int:
    """The size cut down to the same whole number of elements for every rank; at least one each."""
    part = FLOAT32_BYTES * ranks
    return max(1, size_bytes // part) * part


def phases(setup: Setup) -> tuple[Phase, ...]:
    spec, ranks = setup.spec, len(setup.hosts)
    size_bytes = whole_parts(spec.size_bytes or GRADIENT_BYTES, ranks)
    packed = spec.with_.get("placement") == "packed"
    train = {"size_bytes": size_bytes, "repeats": spec.repeats, "paced": True}
    return (
        Phase(
            name="collective",
            hosts=(setup.hosts[0],) * ranks if packed else setup.hosts,
            packed=packed,
            job=setup.job,
            body=BODY,
            size_bytes=size_bytes,
            repeats=spec.repeats,
            arguments={"op": spec.with_.get("op", OPS[0]), "trains": [train]},
        ),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`iterations` as the microbenchmark's; `recorded`: {op, given: shape, result: shape} of rank 0's buffers."""
    kept = [rank["trains"][0] for rank in raw["ranks"]]
    by_iteration = zip(*(one["seconds"] for one in kept), strict=True)
    return {
        "iterations": [
            {"seconds": round(max(seconds), 6), "by_rank": [round(s, 6) for s in seconds]} for seconds in by_iteration
        ],
        "recorded": {
            "op": plan.phases[0].arguments["op"],
            "given": kept[0]["given"],
            "result": kept[0]["result"],
        },
    }


EXPERIMENT = Experiment(
    id="collective",
    title="One collective alone",
    nominal_s=10.0,
    choices={"op": OPS, "placement": ("as-job", "packed")},
    phases=phases,
    record=record,
)
