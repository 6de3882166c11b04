"""Any of five collectives alone, beside its floor and beside what this library reaches when healthy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from gpu_worker.probes import _iterations, _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading
from gpu_worker.specs import WholeRun, experiment_key
from grader.physics import collective

BELOW, AS_USUAL = 0.75, 0.85


def _tree(ranks: int) -> float:
    """gloo's broadcast goes down a binomial tree, whole message by whole message: a rank with k children sends k
    copies over its one link, and each child waits for all of its own before it passes any on.
    """
    depth = math.ceil(math.log2(ranks))
    return 0.96 * 2 / (depth * (depth + 1))


# Healthy share of the floor by FACTS' factors, of gloo in torch 2.13 over TCP.
USUAL: dict[str, Callable[[int], float]] = {
    "all-reduce": lambda ranks: 0.95,
    "all-gather": lambda ranks: 0.9,
    "reduce-scatter": lambda ranks: 0.46,
    "broadcast": _tree,
    "all-to-all": lambda ranks: 0.95 if ranks == 2 else 0.68 if ranks <= 4 else 0.6,
}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Median time of the kept iterations, its floor by nccl-tests' factors, both bandwidths, the buffers' shapes."""
    if run.spec.experiment != "collective" or not run.iterations:
        raise ValueError(f"run of {run.spec.key}: this probe reads a collective with kept iterations")
    op, ranks = run.recorded["op"], len(run.iterations[0]["by_rank"])
    seconds = median(one["seconds"] for one in run.iterations)
    cost = collective(op, ranks, run.size_bytes, run.spec.setting.topology.link_rate)
    fraction, usual, algbw = cost.time_s / seconds, USUAL[op](ranks), 8 * run.size_bytes / seconds
    readings = {
        "seconds": Reading(seconds, "s", f"Time of one {op}, median"),
        "floor_s": Reading(cost.time_s, "s", "Wire floor at the nominal access rate, f·S/B"),
        "fraction_of_floor": Reading(fraction, "ratio", "Floor over time"),
        "usual_fraction": Reading(usual, "ratio", "Fraction that this library reaches when healthy"),
        "fraction_of_usual": Reading(fraction / usual, "ratio", "Fraction of floor over the usual one"),
        "algbw": Reading(algbw, "bit/s", "algbw, size over time"),
        "busbw": Reading(algbw * cost.busbw_factor, "bit/s", f"busbw, algbw × {cost.busbw_factor:.3g}"),
        "size_bytes": Reading(run.size_bytes, "B", "Size of the whole array"),
        "ranks": Reading(ranks, "count", "Ranks"),
        "given": Reading(_shape(run.recorded["given"]), "text", "Shape that each rank gives"),
        "result": Reading(_shape(run.recorded["result"]), "text", "Shape that each rank is left with"),
    }
    return ProbeResult(readings, {"iterations": _iterations.table(run, cost.time_s)})


def _shape(sizes: list[int]) -> str:
    return " × ".join(f"{size:,}" for size in sizes) + " float32"


def classify(values: Mapping[str, float]) -> str:
    """By the fraction of the floor over the one that this library usually reaches."""
    return _job.band(values["fraction_of_usual"], low=BELOW, high=AS_USUAL, below="below-usual", above="as-usual")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """A bar an iteration, with the floor drawn across."""
    return _iterations.figure(result, params["op"])


PROBE = Probe(
    id="collectives",
    title="Any collective alone",
    group="Fabric",
    question="How fast is this collective alone, against its floor and against what is usual here?",
    price_min=8,
    stops_job=True,
    parameters={"op": tuple(USUAL), "placement": ("as-job", "packed")},
    experiment=lambda with_: experiment_key("collective", dict(with_)),
    findings={
        "as-usual": "The collective alone reaches the fraction of its floor that this library usually reaches.",
        "below-usual": "The collective alone stays well below the fraction of its floor that is usual here.",
        INCONCLUSIVE: "The collective alone lies between: neither as usual nor clearly below it.",
    },
    decisive=(Decisive("fraction_of_usual"),),
    deterministic=False,
    tells=(),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "nccl-tests has a program for each: all_reduce_perf, all_gather_perf, reduce_scatter_perf, broadcast_perf, "
        "alltoall_perf; each prints algbw and busbw by its own factor, so that busbw of all of them may be held "
        "against the same link. NCCL runs rings, trees or NVLS that come near the floor for each of them; gloo does "
        "not: its reduce-scatter moves what an all-reduce moves, its broadcast goes whole from parent to child, its "
        "all-to-all leaves links idle. So here each is held against its own usual fraction, and only all-reduce and "
        "all-gather against the floor. An all-to-all also meets itself on uplinks, which ring collectives do not."
    ),
)
