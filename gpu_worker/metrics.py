"""Metrics of a run kept as named series, point by point, so that an alert can be back-tested. Pure; no torch.

`series_of(run)` gives every series that the run holds: of each step of each rank for a job, of each iteration for a
microbenchmark. A metric that a run has nothing for is left out, not filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from gpu_worker.probes import _job
from gpu_worker.specs import WholeRun
from grader.physics import collective

Worse = Literal["higher", "lower"]
ALL = "all ranks"


@dataclass(frozen=True)
class MetricSeries:
    """One metric of one rank, link or the whole job: `values` at `at_s`, seconds since the first measured step began.

    A series that counts over the whole run (retransmits) has a single point, at the run's end.
    """

    metric: str
    of: str
    at_s: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Metric:
    """A named metric: its unit, which way is worse, and how a run's series of it are read.

    `relative`: the value is a ratio to a floor or to peers, so that one threshold holds on machines of any speed.
    """

    id: str
    title: str
    unit: str
    worse: Worse
    relative: bool
    read: Callable[[WholeRun], Iterable[MetricSeries]]


def series_of(run: WholeRun) -> list[MetricSeries]:
    """Every series of every metric that the run holds, in the order of METRICS, then of ranks or links."""
    return [series for metric in METRICS.values() for series in metric.read(run)]


def _steps(run: WholeRun) -> list[dict[str, Any]]:
    """Ranks in order that measured steps of a training job; empty where the run has none."""
    ranks = sorted(run.ranks, key=lambda rank: rank["rank"])
    return [rank for rank in ranks if rank.get("steps")]


def _end_s(step: dict[str, Any]) -> float:
    return float(step["start"] + step["total_s"])


def _by_rank(metric: str, value: Callable[[dict[str, Any]], float]) -> Callable[[WholeRun], list[MetricSeries]]:
    """A series a rank, one point a step."""

    def read(run: WholeRun) -> list[MetricSeries]:
        return [
            MetricSeries(
                metric,
                f"rank {rank['rank']}",
                tuple(_end_s(step) for step in rank["steps"]),
                tuple(value(step) for step in rank["steps"]),
            )
            for rank in _steps(run)
        ]

    return read


def _where_kept(
    metric: str, field: str, value: Callable[[dict[str, Any]], float]
) -> Callable[[WholeRun], list[MetricSeries]]:
    """The same of a run whose steps have that field: older runs, and some forms of the job, were taken without it."""
    by_rank = _by_rank(metric, value)
    return lambda run: by_rank(run) if all(field in step for rank in _steps(run) for step in rank["steps"]) else []


def _same_steps(run: WholeRun) -> list[tuple[dict[str, Any], ...]]:
    """Step by step, that step of every rank. Steps that not all ranks finished are left out."""
    return list(zip(*(rank["steps"] for rank in _steps(run)), strict=False))


def _of_all(metric: str, run: WholeRun, value: Callable[[Sequence[dict[str, Any]]], float]) -> list[MetricSeries]:
    steps = _same_steps(run)
    if not steps:
        return []
    ends = tuple(max(_end_s(step) for step in each) for each in steps)
    return [MetricSeries(metric, ALL, ends, tuple(value(each) for each in steps))]


def _samples_per_s(run: WholeRun) -> list[MetricSeries]:
    """Samples of all ranks over the median step time, step by step."""
    nominal = run.spec.setting.job.microbatch

    def rate(each: Sequence[dict[str, Any]]) -> float:
        return float(sum(step.get("samples", nominal) for step in each) / median(step["total_s"] for step in each))

    return _of_all("samples-per-second", run, rate)


def _peer_scores(metric: str, value: Callable[[dict[str, Any]], float]) -> Callable[[WholeRun], list[MetricSeries]]:
    """Others' median over own, step by step and rank by rank: 1 is even."""

    def read(run: WholeRun) -> list[MetricSeries]:
        ranks, steps = _steps(run), _same_steps(run)
        if len(ranks) < 2 or not steps:
            return []
        scored = [_job.scores([value(step) for step in each]) for each in steps]
        return [
            MetricSeries(
                metric,
                f"rank {rank['rank']}",
                tuple(_end_s(each[at]) for each in steps),
                tuple(scores[at] for scores in scored),
            )
            for at, rank in enumerate(ranks)
        ]

    return read


def _lateness(run: WholeRun) -> list[MetricSeries]:
    """How long after the median of its peers a rank launches a step's last collective, as a share of the step."""
    ranks, steps = _steps(run), _same_steps(run)
    if len(ranks) < 2 or not all(step["collectives"] for each in steps for step in each):
        return []
    launched = [[step["collectives"][-1]["launch"] for step in each] for each in steps]
    return [
        MetricSeries(
            "arrival-lateness",
            f"rank {rank['rank']}",
            tuple(_end_s(each[at]) for each in steps),
            tuple(
                (times[at] - _job.others_median(times, at)) / max(each[at]["total_s"], 1e-9)
                for times, each in zip(launched, steps, strict=True)
            ),
        )
        for at, rank in enumerate(ranks)
    ]


def _fraction_of_floor(run: WholeRun) -> list[MetricSeries]:
    """Wire floor over the time inside the collective: of each step of a job, of each iteration of a microbenchmark."""
    metric = "busbw-over-floor"
    if run.iterations:
        op, ranks = run.recorded.get("op", "all-reduce"), len(run.iterations[0]["by_rank"])
        floor_s = collective(op, ranks, run.size_bytes, run.spec.setting.topology.link_rate).time_s
        at_s, ends = 0.0, []
        for one in run.iterations:
            at_s += one["seconds"]
            ends.append(at_s)
        values = tuple(floor_s / max(one["seconds"], 1e-9) for one in run.iterations)
        return [MetricSeries(metric, ALL, tuple(ends), values)]
    if not any(step["collectives"] for rank in _steps(run) for step in rank["steps"]):
        return []
    floor_s = _job.job_floor_s(run)
    return _of_all(
        metric, run, lambda each: floor_s / max(median(_job.length(_job.flights(step)) for step in each), 1e-9)
    )


def _retransmits(run: WholeRun) -> list[MetricSeries]:
    """Share of TCP segments that a rank's host sent again: one point, for the whole measured part."""
    return [
        MetricSeries(
            "tcp-retransmit-share",
            f"rank {rank['rank']}",
            (_end_s(rank["steps"][-1]),),
            (rank["telemetry"]["tcp_retransmits"] / max(rank["telemetry"]["tcp_segments_out"], 1),),
        )
        for rank in _steps(run)
        if "tcp_segments_out" in rank.get("telemetry", {})
    ]


def _link_drops(run: WholeRun) -> list[MetricSeries]:
    """Packets that a direction of a link dropped: one point, for the whole measured part."""
    ends = [_end_s(rank["steps"][-1]) for rank in _steps(run)] or [sum(one["seconds"] for one in run.iterations)]
    return [
        MetricSeries("link-drops", way, (max(ends),), (float(count["drops"]),))
        for way, count in run.fabric.get("counters", {}).items()
        if count["packets"]
    ]


def _busy_s(step: dict[str, Any]) -> float:
    """Until a rank has nothing left to compute before its gradients are reduced."""
    return float(step["input_s"] + step["forward_s"] + step["backward_s"])


def _compute_s(step: dict[str, Any]) -> float:
    return float(step["forward_s"] + step["backward_s"])


def _total_s(step: dict[str, Any]) -> float:
    return max(float(step["total_s"]), 1e-9)


def _phase(name: str) -> Callable[[dict[str, Any]], float]:
    return lambda step: float(step[f"{name}_s"])


METRICS: dict[str, Metric] = {
    metric.id: metric
    for metric in (
        Metric("step-time", "Step time", "s", "higher", False, _by_rank("step-time", _phase("total"))),
        Metric("input-wait", "Wait for a batch", "s", "higher", False, _by_rank("input-wait", _phase("input"))),
        Metric("compute-time", "Forward and backward", "s", "higher", False, _by_rank("compute-time", _compute_s)),
        Metric(
            "exposed-communication",
            "Exposed communication",
            "s",
            "higher",
            False,
            _by_rank("exposed-communication", _phase("exposed")),
        ),
        Metric(
            "exposed-share",
            "Exposed communication over the step",
            "share",
            "higher",
            True,
            _by_rank("exposed-share", lambda step: step["exposed_s"] / _total_s(step)),
        ),
        Metric(
            "run-queue-share",
            "Compute spent waiting for a core",
            "share",
            "higher",
            True,
            _where_kept(
                "run-queue-share",
                "compute_run_delay_s",
                lambda step: min(step["compute_run_delay_s"] / max(_compute_s(step), 1e-9), 1.0),
            ),
        ),
        Metric(
            "collection-share",
            "Step spent collecting garbage",
            "share",
            "higher",
            True,
            _where_kept("collection-share", "collection_s", lambda step: step["collection_s"] / _total_s(step)),
        ),
        Metric(
            "resident-memory",
            "Memory of a rank's process in RAM",
            "B",
            "higher",
            False,
            _where_kept("resident-memory", "resident_bytes", lambda step: float(step["resident_bytes"])),
        ),
        Metric("samples-per-second", "Useful work, all ranks", "samples/s", "lower", False, _samples_per_s),
        Metric(
            "busy-score",
            "Others' median input + forward + backward over own",
            "ratio",
            "lower",
            True,
            _peer_scores("busy-score", _busy_s),
        ),
        Metric(
            "compute-score",
            "Others' median forward + backward over own",
            "ratio",
            "lower",
            True,
            _peer_scores("compute-score", _compute_s),
        ),
        Metric(
            "arrival-lateness", "Last collective after its peers', over the step", "share", "higher", True, _lateness
        ),
        Metric(
            "busbw-over-floor", "Wire floor over time in the collective", "ratio", "lower", True, _fraction_of_floor
        ),
        Metric("tcp-retransmit-share", "TCP segments sent again", "share", "higher", True, _retransmits),
        Metric("link-drops", "Packets dropped by a direction of a link", "count", "higher", False, _link_drops),
    )
}
