"""Slow collectives from public trackers: the lab shows each one's signature and the witness that misleads."""

from __future__ import annotations

from statistics import median

import pytest

from gpu_worker.jobs.model import ByteModel
from gpu_worker.probes import PROBES
from gpu_worker.specs import Fault, Job, Setting, Topology, WholeRun
from grader.physics import ddp_buckets
from tests.gpu_worker.lab.test_collectives import DEGRADED, collective, finding, pairs, read, value

pytestmark = pytest.mark.lab

MEBIBYTE = 1 << 20
HALVED = Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 200e6})
TWO_SLOW = Fault(cause="two-slow-hosts", place="rank:1", params={"rate": 200e6, "apart": 2})
FALLBACK = Fault(cause="fallback-transport")
CAPPED = Fault(cause="throttled-rank", place="rank:2", params={"duty": 0.2})


def job_finding(run: WholeRun, probe: str, **with_: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, with_))


def test_pytorch_48880_three_unequal_all_reduces_where_two_were_expected(run):
    """14.7 MB in buckets of 8 MiB should be two; the first has a cap of its own, and no tensor is split."""
    job = Job(measured_steps=3, warmup_steps=2, bucket_cap_mb=8.0, first_bucket_mb=1.0)
    taken = run("job", setting=Setting(job=job))
    gradients = [4.0 * parameter.numel() for parameter in ByteModel().parameters()]
    naive = -(-sum(gradients) // (8 * MEBIBYTE))
    predicted = ddp_buckets(gradients, 8 * MEBIBYTE, first_cap_bytes=MEBIBYTE)
    assert naive == 2 and len(predicted) == 3
    for rank in taken.ranks:
        for step in rank["steps"]:
            sizes = [entry["bytes"] for entry in step["collectives"]]
            assert sizes == pytest.approx(predicted, rel=0.01)
            assert max(sizes) > 2 * min(sizes)
            assert max(sizes) > 8 * MEBIBYTE  # the misleading witness: a cap that is no upper bound


def test_nccl_949_one_host_at_half_and_the_collective_at_half_of_line_rate(run):
    taken = run("microbenchmark", HALVED)
    assert 0.4 < value(taken, "microbenchmark", "fraction_of_floor") < 0.56
    assert value(run("microbenchmark"), "microbenchmark", "fraction_of_floor") > 0.85  # once the setting is mended
    assert finding(pairs(run, HALVED), "pairwise-bandwidth") == "one-host-low"
    # Misleading: no bucket dropped a packet, so the wire looks innocent.
    assert sum(counter["drops"] for counter in taken.fabric["counters"].values()) == 0


def test_nccl_307_one_cable_came_up_slower_and_measuring_one_at_a_time_finds_it(run):
    readings = read(pairs(run, DEGRADED), "pairwise-bandwidth").readings
    assert readings["worst_host"].value == "host1"
    assert float(readings["rest_without_host"].value) > 0.9  # without that cable all the others add up
    assert float(readings["worst_host_best"].value) == pytest.approx(0.4 * 0.955, rel=0.1)
    # Misleading: every rank reports the same slow collective, so none stands out.
    by_rank = zip(*(one["by_rank"] for one in run("microbenchmark", DEGRADED).iterations), strict=True)
    seconds = [median(of_a_rank) for of_a_rank in by_rank]
    assert max(seconds) < 1.15 * min(seconds)


@pytest.mark.long
def test_gloo_335_an_all_to_all_over_the_wrong_interface(run):
    slow, right = collective(run, "all-to-all", FALLBACK), collective(run, "all-to-all")
    assert value(slow, "collectives", "seconds") > 1.7 * value(right, "collectives", "seconds")
    taken = run("job", FALLBACK)
    assert job_finding(taken, "library-choices") == "management-interface"
    # Misleading: every link of the fabric is set to its full rate; nobody uses them.
    assert job_finding(taken, "link-rates", scope="all") == "nominal"


def test_nccl_tests_112_a_fast_raw_tool_and_a_slow_collective_is_not_the_wire(run):
    slow = collective(run, "all-reduce", CAPPED, size_bytes=256_000, repeats=20)
    right = collective(run, "all-reduce", size_bytes=256_000, repeats=20)
    assert value(slow, "collectives", "seconds") > value(right, "collectives", "seconds") / 0.75
    # What misleads is the low busbw; the raw pairs say that the wire is fine, and so do the links' rates.
    raw = pairs(run, CAPPED)
    assert finding(raw, "pairwise-bandwidth") == "even"
    assert job_finding(raw, "link-rates", scope="all") == "nominal"


def test_nccl_tests_106_two_slow_hosts_and_one_bad_node_does_not_explain_them(run):
    taken = pairs(run, TWO_SLOW)
    assert finding(taken, "pairwise-bandwidth") == "two-hosts-low"
    readings = read(taken, "pairwise-bandwidth").readings
    assert {readings["worst_host"].value} <= {"host1", "host3"}
    # Misleading: the worst host explains its own pairs, and a slow pair is left that does not hold it.
    assert float(readings["rest_without_host"].value) < 0.6
    assert float(readings["rest_without_hosts"].value) > 0.9


def test_nccl_318_two_nodes_slower_than_one_is_what_the_wire_costs(run):
    topology = Topology(kind="two-tier")
    inside = run("microbenchmark", setting=Setting(topology=topology, placement=(0, 1), baseline_placement=(0, 1)))
    across = run("microbenchmark", setting=Setting(topology=topology))
    assert value(across, "microbenchmark", "seconds") > 4 * value(inside, "microbenchmark", "seconds")
    # Not a fault: the gradient's bytes over the link's rate explain it.
    assert value(across, "microbenchmark", "fraction_of_floor") > 0.85
    # Misleading: every host is busy throughout, computing or with a collective in flight, and all are alike.
    assert job_finding(run("job"), "host-telemetry") == "even"
    assert job_finding(run("job"), "overlap-trace") == "overlapped"
