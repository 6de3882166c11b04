"""The collective alone over sizes: its latency and its bandwidth fitted apart, and the knee between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from gpu_worker import figures
from gpu_worker.jobs.shape import GRADIENT_BYTES
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun
from grader.physics import AlphaBetaCost, alpha_beta, busbw_factor, collective, rounds

OP = "all-reduce"
NOT_FITTED = ("held-out", "between")
LOW, HIGH = 0.75, 0.85
USUAL_LATENCY, HIGH_LATENCY = 1.5, 1.8
# The scale that the lab stands for: 140 GB of gradients over 1,024 ranks at 400 Gb/s, 20 µs a hop.
PRODUCTION = {"ranks": 1024, "size_bytes": 140e9, "rate_bits_per_s": 400e9, "latency_s": 20e-6}


@dataclass(frozen=True)
class Fit:
    """rounds·α + f·S/B of one fabric: `alpha_s` seconds a round, `rate_bits_per_s` the rate B of that sum.

    `plateau_bits_per_s` is what more bytes cost: the slope between the smallest and the largest of the large sizes.
    Where latency hides behind bytes, B of the sum is above it, and above what any wire carries.
    """

    ranks: int
    alpha_s: float
    rate_bits_per_s: float
    plateau_bits_per_s: float

    def cost(self, size_bytes: float) -> AlphaBetaCost:
        """By the sum of both (Hockney)."""
        return alpha_beta(OP, self.ranks, size_bytes, self.rate_bits_per_s, self.alpha_s)

    def larger_s(self, size_bytes: float) -> float:
        """By the larger of both: latency wholly hidden behind bytes, or bytes behind latency."""
        at_plateau = alpha_beta(OP, self.ranks, size_bytes, self.plateau_bits_per_s, self.alpha_s)
        return max(at_plateau.latency_s, at_plateau.bandwidth_s)


def fit(trains: Sequence[Mapping[str, Any]], ranks: int, nominal_bits_per_s: float) -> Fit:
    """α from the sizes that latency decides, less what their bytes need on the wire; then B from the sizes whose
    traffic is 20 bursts of a bucket or more, less their latency.
    """
    alpha_s = latency_s(trains, ranks, nominal_bits_per_s)
    factor, waits_s = 8 * busbw_factor(OP, ranks), rounds(OP, ranks) * alpha_s
    large = [(factor * size, took) for size, role, took in by_size(trains) if role == "bandwidth"]
    sum_of_bits, sum_of_times = sum(bits for bits, _ in large), sum(took - waits_s for _, took in large)
    (first_bits, first_s), (last_bits, last_s) = large[0], large[-1]
    return Fit(ranks, alpha_s, sum_of_bits / sum_of_times, (last_bits - first_bits) / (last_s - first_s))


def latency_s(trains: Sequence[Mapping[str, Any]], ranks: int, nominal_bits_per_s: float) -> float:
    """α, seconds a round, from the trains that latency decides."""
    waits = [
        second - collective(OP, ranks, train["size_bytes"], nominal_bits_per_s).time_s
        for train in trains
        if train["role"] == "latency"
        for second in train["seconds"]
    ]
    return mean(waits) / rounds(OP, ranks)


def by_size(trains: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, float]]:
    """(size in bytes, role, mean seconds), by size."""
    taken: dict[tuple[int, str], list[float]] = {}
    for train in trains:
        taken.setdefault((train["size_bytes"], train["role"]), []).extend(train["seconds"])
    return sorted((size, role, mean(seconds)) for (size, role), seconds in taken.items())


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """α and B fitted on the fabric, α on the loopback, the knee, the held-out sizes, and the share of latency."""
    if run.spec.experiment != "sweep" or not run.recorded.get("fabric"):
        raise ValueError(f"run of {run.spec.key}: this probe reads a sweep over sizes")
    ranks, nominal = len(run.fabric["placement"]), run.spec.setting.topology.link_rate
    fitted = fit(run.recorded["fabric"], ranks, nominal)
    # A slow host slows its own loopback too: the quicker of the two is what this machine needs without a fabric.
    loopback_s = min(latency_s(trains, ranks, nominal) for trains in run.recorded["loopbacks"])
    points = by_size(run.recorded["fabric"])
    held_out = [(size, took) for size, role, took in points if role == "held-out"]
    job = fitted.cost(GRADIENT_BYTES)
    production = alpha_beta(OP, **PRODUCTION)  # type: ignore[arg-type]
    readings = {
        "bandwidth": Reading(fitted.plateau_bits_per_s, "bit/s", "Bandwidth: what more bytes cost, at large sizes"),
        "bandwidth_share": Reading(fitted.plateau_bits_per_s / nominal, "ratio", "Bandwidth over the nominal rate"),
        "fitted_bandwidth": Reading(fitted.rate_bits_per_s, "bit/s", "B of the sum rounds·α + f·S/B"),
        "alpha_s": Reading(fitted.alpha_s, "s", "α, latency a round, fitted where latency decides"),
        "loopback_alpha_s": Reading(loopback_s, "s", "α of the same ranks on one host, without the fabric"),
        "latency_ratio": Reading(fitted.alpha_s / loopback_s, "ratio", "α over α without the fabric"),
        "rounds": Reading(rounds(OP, ranks), "count", "Rounds of the ring, 2(n−1)"),
        "knee_bytes": Reading(job.equal_size_bytes, "B", "Knee: latency and bandwidth cost the same, n·α·B"),
        "held_out_error": Reading(
            max(abs(fitted.cost(size).time_s / took - 1) for size, took in held_out),
            "share",
            "Worst error of the sum on sizes that the fit has not seen",
        ),
        "overlapped_error": Reading(
            max(abs(fitted.larger_s(size) / took - 1) for size, role, took in points if role in NOT_FITTED),
            "share",
            "Worst error of the larger of latency and bytes on sizes not fitted, those near the knee included",
        ),
        "latency_share_here": Reading(job.latency_share, "share", "Share of latency at the job's size here"),
        "latency_share_production": Reading(
            production.latency_share, "share", "The same for 140 GB, 1,024 ranks, 400 Gb/s at 20 µs a round"
        ),
    }
    return ProbeResult(readings, {"sizes": _table(points, fitted, nominal)})


def _table(points: Sequence[tuple[int, str, float]], fitted: Fit, nominal: float) -> Series:
    rows = tuple(
        (size, role, took, cost.time_s, fitted.larger_s(size), floor, floor / took, cost.latency_share)
        for size, role, took in points
        for cost, floor in [(fitted.cost(size), collective(OP, fitted.ranks, size, nominal).time_s)]
    )
    return Series(
        ("size", "used for", "time", "by the sum", "by the larger", "floor", "fraction of floor", "share of latency"),
        ("B", "text", "s", "s", "s", "s", "ratio", "share"),
        rows,
        "Repeats follow one another without a pause; held-out sizes take no part in the fit. Near the knee latency "
        "hides behind bytes: the larger of the two is nearer to the time than their sum.",
    )


def classify(values: Mapping[str, float]) -> str:
    """Bandwidth by its share of nominal (0.75, 0.85), latency by its ratio to that without a fabric (1.5, 2)."""
    if values["bandwidth_share"] < LOW:
        return "bandwidth-low"
    if values["bandwidth_share"] < HIGH:
        return INCONCLUSIVE
    if values["latency_ratio"] > HIGH_LATENCY:
        return "latency-high"
    return "as-usual" if values["latency_ratio"] <= USUAL_LATENCY else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Time over size, both logarithmic: what was measured, what the fit says, and the floor."""
    rows = result.series["sizes"].rows
    sizes = [row[0] for row in rows]
    floor = [f"{say(row[0], 'B')}: floor {say(row[5], 's')}" for row in rows]
    model = [f"{say(row[0], 'B')}: {say(row[3], 's')} by the sum" for row in rows]
    larger = [f"{say(row[0], 'B')}: {say(row[4], 's')} by the larger of both" for row in rows]
    traces = [
        figures.curve("floor", "bad", sizes, [1000 * row[5] for row in rows], floor, dash="dot"),
        figures.curve("α-β sum", "ink-3", sizes, [1000 * row[3] for row in rows], model),
        figures.curve("larger of both", "c3", sizes, [1000 * row[4] for row in rows], larger, dash="dash"),
    ]
    for name, role, uses in (
        ("fitted", "c1", ("latency", "bandwidth")),
        ("held out", "c2", ("held-out",)),
        ("between", "c6", ("between",)),
    ):
        some = [row for row in rows if row[1] in uses]
        said = [f"{say(row[0], 'B')}: {say(row[2], 's')}, {say(row[6], 'ratio')} of the floor" for row in some]
        traces.append(figures.cloud(name, role, [row[0] for row in some], [1000 * row[2] for row in some], said))
    knee_bytes = float(result.readings["knee_bytes"].value)
    line, note = figures.upright(knee_bytes, f"knee {say(knee_bytes, 'B')}")
    alt = (
        f"All-reduce time over {len(rows)} sizes with its fit and floor; "
        f"α {say(result.readings['alpha_s'].value, 's')}, B {say(result.readings['bandwidth'].value, 'bit/s')}"
    )
    logarithmic: dict[str, Any] = {"type": "log", "dtick": 1, "rangemode": "normal"}
    made = figures.frame(
        traces,
        alt=alt,
        rows=8,
        x=figures.numbers("bytes", **logarithmic),
        y=figures.numbers("ms an all-reduce", **logarithmic),
        shapes=[line],
        # On a logarithmic axis Plotly takes a shape where it is, but an annotation at its exponent.
        annotations=[{**note, "x": math.log10(knee_bytes)}],
    )
    made["layout"]["margin"]["t"] = 28
    return made


PROBE = Probe(
    id="microbenchmark-sweep",
    title="Microbenchmark over sizes",
    group="Fabric",
    question="Is it latency or bandwidth that makes the collective slow?",
    price_min=15,
    stops_job=True,
    parameters={},
    experiment=lambda _with: "sweep",
    findings={
        "as-usual": "Large messages run near nominal, and small ones wait about as long as without a fabric.",
        "bandwidth-low": "Large messages stay well below the nominal rate, whatever small ones do.",
        "latency-high": "Large messages run near nominal, but small ones wait far longer than without a fabric.",
        INCONCLUSIVE: "Bandwidth or latency lies between usual and clearly worse.",
    },
    decisive=(Decisive("bandwidth_share"), Decisive("latency_ratio")),
    deterministic=False,
    tells=("bisect",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "nccl-tests sweeps by itself: all_reduce_perf -b 8 -e 16G -f 2 -n 100 prints time and busbw a size; the flat "
        "part at the left is latency, the plateau at the right bandwidth. Compare both ends with your own baseline at "
        "the same number of nodes: a low plateau is a link, a rail or a ring; a high left end is hops, a proxy thread "
        "without a core, or a protocol (NCCL_PROTO, NCCL_ALGO and NCCL_DEBUG_SUBSYS=TUNING show the choice a size). "
        "There a round takes 5 to 30 µs; here about a millisecond, since ranks share cores, so the knee lies at "
        "smaller bytes than the rate alone would tell and the ratio to the loopback is what carries over."
    ),
)
