"""Pairs, sweeps and single collectives: runs made by hand are told by the stated thresholds."""

from __future__ import annotations

from itertools import permutations

import pytest

from gpu_worker.experiments.sweep import trains_of
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec, WholeRun
from grader.physics import collective
from tests.gpu_worker.probes.conftest import made_job

RATE = 400e6
PAIRS = [tuple(pair) for pair in permutations(range(4), 2)]


def made(experiment: str, recorded: dict, size_bytes: int, **with_: str) -> WholeRun:
    spec = ExperimentSpec.model_validate({"experiment": experiment, "with": with_})
    update = {"spec": spec, "recorded": recorded, "size_bytes": size_bytes, "ranks": []}
    return made_job().model_copy(update=update)


def pairwise(shares: dict[tuple[int, int], float]) -> WholeRun:
    """Ways of pairs with their share of nominal; all others of four ranks at 0.95."""
    size = 6_000_000
    transfers = [
        {"source": a, "target": b, "round": 0, "seconds": 8 * size / RATE / shares.get((a, b), 0.95)} for a, b in PAIRS
    ]
    return made("pairwise", {"transfers": transfers}, size, scope="disjoint-pairs")


def of_host(host: int, share: float) -> dict[tuple[int, int], float]:
    return {pair: share for pair in PAIRS if host in pair}


def finding(run: WholeRun, probe: str, **params: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, params))


@pytest.mark.parametrize(
    ("shares", "found"),
    [
        ({}, "even"),
        ({(0, 1): 0.8}, "inconclusive"),
        (of_host(1, 0.4), "one-host-low"),
        ({(0, 1): 0.4, (2, 1): 0.4, (3, 1): 0.4}, "one-host-low"),  # one direction of its link
        (of_host(1, 0.5) | of_host(3, 0.5), "two-hosts-low"),
        (of_host(1, 0.3) | of_host(3, 0.6), "two-hosts-low"),
        ({(0, 2): 0.3}, "one-pair-low"),
        ({(0, 2): 0.3, (1, 3): 0.3}, "some-pairs-low"),
        (of_host(1, 0.4) | {(2, 3): 0.4}, "some-pairs-low"),
        (dict.fromkeys(PAIRS, 0.4), "all-low"),
        (of_host(1, 0.4) | {(2, 3): 0.8}, "inconclusive"),
    ],
)
def test_slow_pairs_are_laid_to_one_host_two_hosts_or_neither(shares, found):
    assert finding(pairwise(shares), "pairwise-bandwidth") == found


def test_one_bad_node_does_not_explain_the_pairs_of_two_slow_hosts():
    """nccl-tests#106: pairs at 49, 88, 49, 49, 87, and one node was blamed."""
    run = pairwise(of_host(1, 0.49) | of_host(3, 0.49))
    readings = PROBES["pairwise-bandwidth"].read(run, {}).readings
    assert readings["rest_without_host"].value == pytest.approx(0.49)
    assert readings["rest_without_hosts"].value == pytest.approx(0.95)


def test_a_pair_measured_alone_accuses_no_host():
    run = pairwise({(0, 1): 0.4, (1, 0): 0.4})
    only = [one for one in run.recorded["transfers"] if {one["source"], one["target"]} in ({0, 1}, {2, 3})]
    run = run.model_copy(update={"recorded": {"transfers": only}})
    assert finding(run, "pairwise-bandwidth") == "one-pair-low"


def sweep(*, rate: float = 0.955 * RATE, alpha_s: float = 1e-3, loopback_s: float = 0.9e-3) -> WholeRun:
    """Four ranks whose times are 6·α + f·S/B to the last digit."""
    trains = trains_of(4)
    fabric = [_train(train, 6 * alpha_s + 1.5 * 8 * train["size_bytes"] / rate) for train in trains]
    loopback = [_train(train, 6 * loopback_s) for train in trains if train["role"] == "latency"]
    slow = [_train(train, 60 * loopback_s) for train in trains if train["role"] == "latency"]
    return made("sweep", {"fabric": fabric, "loopbacks": [slow, loopback]}, 14_000_000)


def _train(train: dict, seconds: float) -> dict:
    return {"size_bytes": train["size_bytes"], "role": train["role"], "seconds": [seconds] * train["repeats"]}


def test_latency_and_bandwidth_are_fitted_apart_and_predict_what_was_held_out():
    values = {name: r.value for name, r in PROBES["microbenchmark-sweep"].read(sweep(), {}).readings.items()}
    assert values["bandwidth"] == pytest.approx(0.955 * RATE, rel=1e-3)
    assert values["alpha_s"] == pytest.approx(1e-3, rel=0.02)
    assert values["held_out_error"] < 0.02
    assert values["knee_bytes"] == pytest.approx(4 * 1e-3 * 0.955 * RATE / 8, rel=0.03)


def test_the_loopback_of_a_slow_host_is_not_what_latency_is_held_against():
    readings = PROBES["microbenchmark-sweep"].read(sweep(), {}).readings
    assert readings["loopback_alpha_s"].value == pytest.approx(0.9e-3, rel=0.02)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, "as-usual"),
        ({"rate": 0.4 * RATE}, "bandwidth-low"),
        ({"alpha_s": 3e-3}, "latency-high"),
        ({"rate": 0.4 * RATE, "alpha_s": 3e-3}, "bandwidth-low"),
        ({"rate": 0.8 * RATE}, "inconclusive"),
        ({"alpha_s": 1.5e-3}, "inconclusive"),
    ],
)
def test_a_sweep_tells_latency_from_bandwidth(changed, found):
    assert finding(sweep(**changed), "microbenchmark-sweep") == found


def one_collective(op: str, fraction: float) -> WholeRun:
    size = 14_000_000
    seconds = collective(op, 4, size, RATE).time_s / fraction
    run = made("collective", {"op": op, "given": [4], "result": [16]}, size, op=op, placement="as-job")
    return run.model_copy(update={"iterations": [{"seconds": seconds, "by_rank": [seconds] * 4}] * 3})


@pytest.mark.parametrize(
    ("op", "fraction", "found"),
    [
        ("all-reduce", 0.95, "as-usual"),
        ("reduce-scatter", 0.46, "as-usual"),
        ("broadcast", 0.33, "as-usual"),
        ("all-gather", 0.46, "below-usual"),
        ("reduce-scatter", 0.2, "below-usual"),
    ],
)
def test_a_collective_is_held_against_what_is_usual_for_it(op, fraction, found):
    assert finding(one_collective(op, fraction), "collectives", op=op, placement="as-job") == found


def test_busbw_follows_from_algbw_by_the_factor_of_the_operation():
    readings = PROBES["collectives"].read(one_collective("all-gather", 0.9), {"op": "all-gather"}).readings
    assert readings["busbw"].value == pytest.approx(0.75 * readings["algbw"].value)
    assert readings["busbw"].value == pytest.approx(0.9 * RATE)
    assert readings["result"].value == "16 float32"


@pytest.mark.parametrize("probe", ["collectives", "microbenchmark-sweep", "pairwise-bandwidth"])
def test_a_run_of_another_experiment_is_refused_by_name(probe):
    with pytest.raises(ValueError, match="run of job"):
        PROBES[probe].read(made_job(), {"op": "all-reduce"})
