"""Each fault really fires on a real run, shows where it must, and leaves alone what it must."""

from __future__ import annotations

import pytest

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.probes import PROBES
from gpu_worker.specs import Fault, WholeRun
from tests.gpu_worker.lab.conftest import healthy_jobs

pytestmark = pytest.mark.lab

THROTTLED = Fault(cause="throttled-rank", place="rank:2", params={"duty": 0.3})
SLOW_INPUT = Fault(cause="slow-input-rank", place="rank:1", params={"bytes_per_s": 90e3})
DEGRADED = Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 160e6})
DEGRADED_UPLINK = Fault(cause="degraded-link", place="link:leaf0-spine1", params={"rate": 160e6})
FAR = Fault(cause="worse-placement", place="rank:3")
FALLBACK = Fault(cause="fallback-transport")
SERIAL = Fault(cause="no-overlap")
SMALLER = Fault(cause="comparison-changed", params={"samples": 4})
EVERY = [THROTTLED, SLOW_INPUT, DEGRADED, FAR, FALLBACK, SERIAL, SMALLER]


def reading(run: WholeRun, probe: str, name: str) -> float:
    return float(PROBES[probe].read(run, dict(run.spec.with_)).readings[name].value)


def finding(run: WholeRun, probe: str, **with_: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, with_ or dict(run.spec.with_)))


def useful_work(run: WholeRun) -> float:
    """Samples a second over all ranks."""
    steps = [step for rank in run.ranks for step in rank["steps"]]
    return sum(step["samples"] for step in steps) / max(step["start"] + step["total_s"] for step in steps)


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: fault.cause)
def test_a_fault_fires_and_costs_useful_work(run, fault):
    taken = run("job", fault)
    assert taken.fired[fault.cause].get("exercised") is not False
    assert any(useful_work(taken) < 0.8 * useful_work(healthy) for healthy in healthy_jobs(run))


def test_a_degraded_link_sets_the_pace_of_the_whole_ring(run):
    taken = run("microbenchmark", DEGRADED)
    assert 0.3 < reading(taken, "microbenchmark", "fraction_of_floor") < 0.45
    assert finding(run("job", DEGRADED), "link-rates", scope="all") == "one-link-lower"


def test_a_degraded_link_drops_nothing(run):
    """Its buckets are deep: a slow link makes senders wait, and only a lossy one loses."""
    for taken in (run("microbenchmark", DEGRADED), run("job", DEGRADED)):
        counters = taken.fabric["counters"]
        assert counters
        assert sum(counter["drops"] for counter in counters.values()) == 0


def test_a_degraded_uplink_is_really_crossed(run):
    taken = run("microbenchmark", DEGRADED_UPLINK)
    assert any("leaf0-spine1" in path["via"] for path in taken.fabric["paths"])
    assert 0.3 < reading(taken, "microbenchmark", "fraction_of_floor") < 0.45


def test_a_throttled_rank_stalls_and_leaves_the_fabric_alone(run):
    taken = run("job", THROTTLED)
    assert finding(taken, "per-rank-step-times") == "one-rank-slow-compute"
    assert finding(taken, "host-telemetry") == "one-host-stalled"
    assert reading(run("microbenchmark", THROTTLED), "microbenchmark", "fraction_of_floor") > 0.8


def test_slow_input_shows_in_the_input_of_that_rank_alone(run):
    taken = run("job", SLOW_INPUT)
    input_s = [sum(step["input_s"] for step in rank["steps"]) for rank in taken.ranks]
    assert input_s[1] > 5 * max(input_s[0], input_s[2], input_s[3])
    assert finding(taken, "input-timings") == "one-rank-slow"


def test_a_worse_placement_crosses_the_far_uplinks(run):
    taken = run("job", FAR)
    assert taken.fabric["placement"] == [0, 1, 2, 4]
    assert finding(taken, "placement-map") == "more-hops"
    assert reading(run("microbenchmark", FAR), "microbenchmark", "fraction_of_floor") < 0.55


def test_a_fallback_transport_shows_in_the_sockets_and_the_counters(run):
    taken = run("job", FALLBACK)
    assert {rank["interface"] for rank in taken.ranks} == {"mgmt0"}
    assert finding(taken, "library-choices") == "management-interface"
    counters = taken.fabric["counters"]
    assert counters["host0->mgmt"]["bytes"] > 100 * counters["host0->leaf0"]["bytes"]


def test_without_overlap_nothing_is_launched_under_backward(run):
    taken = run("job", SERIAL)
    assert finding(taken, "overlap-trace") == "serial"
    assert finding(run("job"), "overlap-trace") == "overlapped"


def test_a_smaller_microbatch_was_really_trained_on(run):
    assert {step["samples"] for rank in run("job", SMALLER).ranks for step in rank["steps"]} == {4}


@pytest.mark.long
def test_two_faults_at_once_both_fire(run):
    taken = run("job", DEGRADED, SLOW_INPUT)
    assert set(taken.fired) == {"degraded-link", "slow-input-rank"}


@pytest.mark.long
def test_a_link_that_no_flow_takes_is_a_fault_that_did_not_fire(run):
    with pytest.raises(FaultDidNotFire, match="crosses leaf2-spine0"):
        run("microbenchmark", Fault(cause="degraded-link", place="link:leaf2-spine0", params={"rate": 50e6}))
