"""Which pairs are measured in which rounds, and which sizes a sweep takes: pure."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.collective import OPS, whole_parts
from gpu_worker.experiments.pairwise import pairs_of, rounds_of
from gpu_worker.experiments.sweep import BURSTS, trains_of
from gpu_worker.fabric.plan import BURST_BYTES
from gpu_worker.jobs.collectives import OPERATIONS
from gpu_worker.lab.plan import plan_run
from gpu_worker.probes.collectives import USUAL
from gpu_worker.specs import ExperimentSpec, Setting
from grader.physics import busbw_factor

FOUR = (0, 0, 1, 1)


def test_every_pair_is_measured_both_ways():
    flows = [flow for flows in rounds_of(pairs_of("disjoint-pairs", FOUR), FOUR) for flow in flows]
    assert sorted(flows) == sorted((a, b) for a in range(4) for b in range(4) if a != b)


def test_by_leaf_takes_the_inside_of_each_leaf_and_one_pair_between_them():
    assert pairs_of("by-leaf", FOUR) == [(0, 1), (0, 2), (2, 3)]


def test_the_suspects_are_the_neighbours_in_the_ring():
    assert pairs_of("suspects", FOUR) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert pairs_of("suspects", (0, 0)) == [(0, 1)]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=16))
def test_in_a_round_no_rank_is_in_two_pairs_and_no_leaf_is_left_by_two_flows(leaves):
    for flows in rounds_of(list(combinations(range(len(leaves)), 2)), leaves):
        ranks = [rank for flow in flows for rank in flow]
        assert len(set(ranks)) == len(ranks)
        left = [leaves[rank] for a, b in flows if leaves[a] != leaves[b] for rank in (a, b)]
        assert len(set(left)) == len(left)


def test_inside_one_leaf_the_rounds_are_as_few_as_can_be():
    assert len(rounds_of(pairs_of("disjoint-pairs", (0,) * 8), (0,) * 8)) == 2 * 7


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_bandwidth_is_fitted_only_where_traffic_is_twenty_bursts_or_more(ranks):
    for train in trains_of(ranks):
        traffic = busbw_factor("all-reduce", ranks) * train["size_bytes"]
        assert train["role"] != "bandwidth" or traffic >= 0.999 * BURSTS * BURST_BYTES
        assert train["role"] != "latency" or traffic < BURST_BYTES / 10
    held_out = {train["size_bytes"] for train in trains_of(ranks) if train["role"] == "held-out"}
    fitted = {train["size_bytes"] for train in trains_of(ranks) if train["role"] in ("latency", "bandwidth")}
    assert len(held_out) == 3 and not held_out & fitted


@given(st.integers(1, 1 << 30), st.integers(2, 16))
def test_a_size_is_cut_into_equal_parts_of_whole_elements(size_bytes, ranks):
    cut = whole_parts(size_bytes, ranks)
    assert cut % (4 * ranks) == 0 and cut >= 4 * ranks
    assert cut <= max(size_bytes, 4 * ranks)


def test_every_operation_can_be_run_and_has_a_usual_share():
    assert set(OPS) == set(OPERATIONS) == set(USUAL)
    assert all(0 < usual(ranks) < 1 for usual in USUAL.values() for ranks in (2, 4, 8, 16))


def test_a_collective_names_its_operation_and_runs_packed_over_the_loopback():
    spec = ExperimentSpec.model_validate(
        {"experiment": "collective", "with": {"op": "all-gather", "placement": "packed"}, "size_bytes": 1_000_003}
    )
    plan = plan_run(spec)
    assert plan.packed and plan.placement == (0, 0, 0, 0)
    assert plan.size_bytes == 1_000_000 and plan.phases[0].arguments["op"] == "all-gather"


@pytest.mark.parametrize("experiment", ["sweep", "pairwise"])
def test_an_experiment_with_sizes_of_its_own_refuses_another(experiment):
    with pytest.raises(BadSpec, match="leave --size out"):
        plan_run(ExperimentSpec(experiment=experiment, size_bytes=1000))


def test_a_sweep_measures_the_loopback_of_two_hosts():
    plan = plan_run(ExperimentSpec(experiment="sweep", setting=Setting()))
    assert [phase.hosts for phase in plan.phases] == [(0, 1, 2, 3), (0, 0, 0, 0), (3, 3, 3, 3)]
