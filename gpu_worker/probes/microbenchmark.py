"""The collective alone, without the job, held against its wire floor."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from gpu_worker.probes import _iterations, _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading
from gpu_worker.specs import WholeRun, experiment_key
from grader.physics import collective

OP = "all-reduce"
BELOW, AT_FLOOR = 0.75, 0.85


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Median all-reduce of the kept iterations, its floor at the nominal access rate, and both bandwidths."""
    if not run.iterations:
        raise ValueError(f"run of {run.spec.key}: the microbenchmark kept no iteration")
    ranks = len(run.iterations[0]["by_rank"])
    seconds = median(one["seconds"] for one in run.iterations)
    cost = collective(OP, ranks, run.size_bytes, run.spec.setting.topology.link_rate)
    algbw = 8 * run.size_bytes / seconds
    readings = {
        "seconds": Reading(seconds, "s", "Time of one all-reduce, median"),
        "floor_s": Reading(cost.time_s, "s", "Wire floor at the nominal access rate, 2(n−1)/n · S/B"),
        "fraction_of_floor": Reading(cost.time_s / seconds, "ratio", "Floor over time"),
        "algbw": Reading(algbw, "bit/s", "algbw, size over time"),
        "busbw": Reading(algbw * cost.busbw_factor, "bit/s", f"busbw, algbw × {cost.busbw_factor:.3g}"),
        "size_bytes": Reading(run.size_bytes, "B", "Message size"),
        "ranks": Reading(ranks, "count", "Ranks"),
        "fastest_s": Reading(min(one["seconds"] for one in run.iterations), "s", "Fastest iteration"),
        "slowest_s": Reading(max(one["seconds"] for one in run.iterations), "s", "Slowest iteration"),
    }
    return ProbeResult(readings, {"iterations": _iterations.table(run, cost.time_s)})


def classify(values: Mapping[str, float]) -> str:
    """By the fraction of the wire floor. A shared machine's healthy runs stay above 0.85, see the calibration."""
    return _job.band(values["fraction_of_floor"], low=BELOW, high=AT_FLOOR, below="below-floor", above="at-floor")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """A bar an iteration, with the floor drawn across."""
    return _iterations.figure(result, OP)


PROBE = Probe(
    id="microbenchmark",
    title="Collective microbenchmark",
    group="Fabric",
    question="How fast is the collective alone, against its floor?",
    price_min=8,
    stops_job=True,
    parameters={"size": ("small", "job"), "placement": ("as-job", "packed")},
    experiment=lambda with_: experiment_key("microbenchmark", dict(with_)),
    findings={
        "at-floor": "The collective alone runs near its wire floor.",
        "below-floor": "The collective alone stays well below its wire floor.",
        INCONCLUSIVE: "The collective alone lies between: neither near its floor nor clearly below it.",
    },
    decisive=(Decisive("fraction_of_floor", "log"),),
    deterministic=False,
    tells=("bisect",),
    tells_when={"size": "job", "placement": "as-job"},
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "nccl-tests: all_reduce_perf -b 8 -e 16G -f 2 -g 1 under the launcher, hosts and environment of the "
        "job, with -c 0 once correctness is known; read the in-place busbw at the job's message size. Healthy "
        "is not 1.0 there: published runs reach about 80 % of the specified bus bandwidth, so keep your own "
        "baseline a size and a scale. NCCL may choose Tree, Ring or NVLS and LL, LL128 or Simple by size "
        "(NCCL_DEBUG_SUBSYS=TUNING shows it), so a small message says nothing about a large one. gloo here runs "
        "a ring over TCP: headers alone take 4.4 % of the wire."
    ),
)
