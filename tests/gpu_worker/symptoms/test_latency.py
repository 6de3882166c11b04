"""Mean against 99th percentile: all slower alike, or a few that take many times longer."""

from __future__ import annotations

import pytest

from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.latency import SYMPTOM
from tests.gpu_worker.probes.conftest import made_job

HEALTHY = made_job()


def stretched(run: WholeRun, steps: set[int], by_s: float) -> WholeRun:
    """The run with every all-reduce of some steps that much longer, on all ranks."""
    changed = run.model_copy(deep=True)
    for rank in changed.ranks:
        for number in steps:
            for entry in rank["steps"][number]["collectives"]:
                entry["done"] += by_s
    return changed


def values(run: WholeRun) -> dict[str, float]:
    result = SYMPTOM.read(run, HEALTHY)
    return {name: float(reading.value) for name, reading in result.readings.items()}


def test_where_every_step_is_slower_alike_the_tail_goes_with_the_mean():
    slower = stretched(HEALTHY, set(range(6)), 1.0)
    before, now = values(HEALTHY), values(slower)
    assert now["mean_s_now"] - before["mean_s_now"] == pytest.approx(1.0)
    assert now["p99_s_now"] - before["p99_s_now"] == pytest.approx(1.0)
    assert SYMPTOM.finding(SYMPTOM.read(slower, HEALTHY)) == "one-pace"


def test_one_long_step_of_six_moves_the_tail_and_hardly_the_mean():
    spiked = stretched(HEALTHY, {2}, 1.0)
    now = values(spiked)
    assert now["mean_s_now"] - now["mean_s_before"] == pytest.approx(1 / 6)
    assert now["p99_s_now"] - now["p99_s_before"] > 0.9
    assert SYMPTOM.finding(SYMPTOM.read(spiked, HEALTHY)) == "long-tail"


def test_the_tail_is_that_of_the_slowest_hundredth_and_not_of_the_slowest():
    spiked = stretched(HEALTHY, {2}, 1.0)
    took = sorted(one["done"] - one["launch"] for r in spiked.ranks for s in r["steps"] for one in s["collectives"])
    assert len(took) == 168 and took[-3] <= values(spiked)["p99_s_now"] <= took[-2]


def test_what_it_has_in_common_with_a_slow_collective_reads_the_same():
    now = values(made_job(communication_s=0.92))
    assert now["work_ratio"] < 1 and now["collective_s_now"] > now["collective_s_before"]
    assert SYMPTOM.left_of(HEALTHY, HEALTHY) == pytest.approx(1)
