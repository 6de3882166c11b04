"""Collectives, sweeps and pairs on real fabrics: shapes, floors, predictions, and which host a slow pair accuses."""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import ProbeResult
from gpu_worker.specs import Fault, WholeRun

pytestmark = pytest.mark.lab

SIZE_BYTES = 8_000_000
ELEMENTS = SIZE_BYTES // 4
SHAPES = {
    "all-reduce": (ELEMENTS, ELEMENTS),
    "all-gather": (ELEMENTS // 4, ELEMENTS),
    "reduce-scatter": (ELEMENTS, ELEMENTS // 4),
    "broadcast": (ELEMENTS, ELEMENTS),
    "all-to-all": (ELEMENTS, ELEMENTS),
}
DEGRADED = Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 160e6})
DEGRADED_UPLINK = Fault(cause="degraded-link", place="link:leaf0-spine1", params={"rate": 100e6})
THROTTLED = Fault(cause="throttled-rank", place="rank:2", params={"duty": 0.25})


def read(run: WholeRun, probe: str) -> ProbeResult:
    return PROBES[probe].read(run, dict(run.spec.with_))


def finding(run: WholeRun, probe: str) -> str:
    return PROBES[probe].finding(read(run, probe))


def value(run: WholeRun, probe: str, reading: str) -> float:
    return float(read(run, probe).readings[reading].value)


def collective(run, op: str, *faults: Fault, size_bytes: int = SIZE_BYTES, **more) -> WholeRun:
    with_ = {"op": op, "placement": "as-job"}
    return run("collective", *faults, size_bytes=size_bytes, **{"with": with_}, **more)


def pairs(run, *faults: Fault) -> WholeRun:
    return run("pairwise", *faults, **{"with": {"scope": "disjoint-pairs"}})


@pytest.mark.parametrize("op", SHAPES)
def test_a_collective_leaves_the_shape_it_should_and_runs_as_usual(run, op):
    taken = collective(run, op)
    given, result = SHAPES[op]
    assert (taken.recorded["given"], taken.recorded["result"]) == ([given], [result])
    assert value(taken, "collectives", "fraction_of_usual") > 0.8
    assert value(taken, "collectives", "fraction_of_floor") < 1.02


@pytest.mark.long
def test_the_fit_predicts_sizes_that_it_has_not_seen_within_a_tenth(run):
    taken = run("sweep")
    assert finding(taken, "microbenchmark-sweep") == "as-usual"
    assert value(taken, "microbenchmark-sweep", "held_out_error") <= 0.10
    assert value(taken, "microbenchmark-sweep", "bandwidth_share") == pytest.approx(0.955, abs=0.03)


@pytest.mark.long
def test_latency_weighs_little_at_both_scales_at_the_size_of_the_job(run):
    assert value(run("sweep"), "microbenchmark-sweep", "latency_share_here") < 0.10
    assert value(run("sweep"), "microbenchmark-sweep", "latency_share_production") < 0.10


@pytest.mark.long
def test_a_throttled_rank_makes_small_messages_wait_and_leaves_the_bandwidth(run):
    taken = run("sweep", THROTTLED)
    assert finding(taken, "microbenchmark-sweep") == "latency-high"
    assert value(taken, "microbenchmark-sweep", "bandwidth_share") > 0.9


def test_healthy_pairs_are_even_to_a_few_hundredths(run):
    taken = pairs(run)
    assert finding(taken, "pairwise-bandwidth") == "even"
    readings = read(taken, "pairwise-bandwidth").readings
    assert float(readings["lowest_share"].value) > 0.92 * float(readings["highest_share"].value)


def test_every_pair_of_a_host_with_a_slow_link_is_slow(run):
    taken = pairs(run, DEGRADED)
    assert finding(taken, "pairwise-bandwidth") == "one-host-low"
    assert read(taken, "pairwise-bandwidth").readings["worst_host"].value == "host1"


def test_a_slow_uplink_accuses_no_host(run):
    assert finding(pairs(run, DEGRADED_UPLINK), "pairwise-bandwidth") in ("some-pairs-low", "one-pair-low")
