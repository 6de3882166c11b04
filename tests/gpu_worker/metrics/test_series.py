"""Metrics of a run as series: named, with unit and direction, of made runs and of really measured ones."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from statistics import median

import pytest

from gpu_worker.metrics import ALL, METRICS, MetricSeries, series_of
from gpu_worker.probes import PROBES
from gpu_worker.specs import WholeRun

RUNS = Path(__file__).parents[1] / "probes" / "runs"
# Of older runs, such as those beside it, some metrics were not kept.
NEWEST = RUNS / "healthy" / "job.json.gz"


def load(path: Path) -> WholeRun:
    return WholeRun.model_validate(json.loads(gzip.decompress(path.read_bytes())))


def measured(cause: str, experiment: str = "job") -> WholeRun:
    return load(RUNS / f"{cause}--{experiment}--1.json.gz")


def of(run: WholeRun, metric: str) -> dict[str, MetricSeries]:
    return {series.of: series for series in series_of(run) if series.metric == metric}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_has_unit_direction_and_title_and_a_measured_job_holds_it(metric):
    assert metric.unit and metric.title and metric.worse in ("higher", "lower")
    assert of(load(NEWEST), metric.id)


def test_every_series_has_as_many_moments_as_values_in_order_and_finite():
    for run in (measured("healthy"), measured("degraded-link"), measured("healthy", "microbenchmark")):
        for series in series_of(run):
            assert len(series.at_s) == len(series.values) > 0
            assert list(series.at_s) == sorted(series.at_s)
            assert all(math.isfinite(value) for value in series.values)


def test_a_job_has_a_point_a_step_for_each_rank():
    run = measured("healthy")
    for rank in run.ranks:
        series = of(run, "step-time")[f"rank {rank['rank']}"]
        assert series.values == tuple(step["total_s"] for step in rank["steps"])


def test_an_older_run_lacks_what_was_not_kept_then_and_holds_the_rest():
    kept = {series.metric for series in series_of(measured("healthy"))}
    assert METRICS.keys() - kept == {"run-queue-share", "collection-share", "resident-memory"}


def test_shares_of_a_step_lie_between_none_and_all_of_it():
    for metric in ("run-queue-share", "collection-share"):
        assert METRICS[metric].relative
        assert all(0 <= value <= 1 for series in of(load(NEWEST), metric).values() for value in series.values)


def test_useful_work_falls_under_a_fault():
    healthy, faulted = (of(measured(c), "samples-per-second")[ALL].values for c in ("healthy", "degraded-link"))
    assert max(faulted) < min(healthy)


def test_the_collective_against_its_floor_tells_a_slow_link_on_machines_of_any_speed():
    healthy, faulted = (of(measured(c), "busbw-over-floor")[ALL].values for c in ("healthy", "degraded-link"))
    assert METRICS["busbw-over-floor"].relative
    assert max(faulted) < 0.65 < min(healthy)


def test_a_late_rank_has_the_low_busy_score_and_the_high_lateness():
    run = measured("slow-input-rank")
    late = PROBES["input-timings"].read(run, {}).readings["slowest_rank"].value
    scores = {name: median(series.values) for name, series in of(run, "busy-score").items()}
    lateness = {name: median(series.values) for name, series in of(run, "arrival-lateness").items()}
    assert min(scores, key=lambda name: scores[name]) == late
    assert max(lateness, key=lambda name: lateness[name]) == late
    assert scores[late] < 0.75


def test_a_microbenchmark_has_its_iterations_and_no_steps():
    run = measured("healthy", "microbenchmark")
    assert len(of(run, "busbw-over-floor")[ALL].values) == len(run.iterations)
    assert not of(run, "step-time")


def test_a_run_of_neither_form_has_no_series():
    empty = measured("healthy").model_copy(update={"ranks": [], "fabric": {}})
    assert series_of(empty) == []
