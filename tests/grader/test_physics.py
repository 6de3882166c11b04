"""Floors that the articles and nccl-tests state."""

import pytest

from grader import physics


def test_a_seventy_billion_parameter_gradient_costs_five_point_six_seconds():
    cost = physics.collective("all-reduce", 1024, 140e9, 400e9)
    assert cost.time_s == pytest.approx(5.6, rel=0.002)
    assert cost.bytes_per_rank == pytest.approx(280e9, rel=0.002)


@pytest.mark.parametrize(("ranks", "factor"), [(2, 1.0), (4, 1.5), (8, 1.75)])
def test_all_reduce_factors_are_those_of_nccl_tests(ranks, factor):
    assert physics.busbw_factor("all-reduce", ranks) == pytest.approx(factor)


def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather():
    parts = sum(physics.collective(op, 8, 1e9, 1e9).time_s for op in ("reduce-scatter", "all-gather"))
    assert physics.ring_all_reduce(8, 1e9, 1e9).time_s == pytest.approx(parts)


def test_eight_nics_a_host_cost_an_eighth():
    cost = physics.hierarchical_all_reduce(128, 8, 8, 140e9, 400e9)
    assert cost.time_s == pytest.approx(0.69, rel=0.01)


def test_latency_and_bandwidth_cost_the_same_at_the_knee():
    cost = physics.alpha_beta("all-reduce", 8, 1e6, 1e9, 1e-4)
    knee = physics.alpha_beta("all-reduce", 8, cost.equal_size_bytes, 1e9, 1e-4)
    assert knee.latency_share == pytest.approx(0.5)
    assert cost.equal_size_bytes * 8 == pytest.approx(8 * 1e-4 * 1e9)


def test_a_ring_runs_at_its_slowest_link():
    healthy, cut = physics.ring_all_reduce(4, 14e6, 400e6), physics.degraded_ring(4, 14e6, 400e6, 100e6)
    assert cut.time_s == pytest.approx(4 * healthy.time_s)
    assert physics.degraded_ring(4, 14e6, 400e6, 800e6).time_s == pytest.approx(healthy.time_s)


def test_six_seconds_of_five_point_six_is_physics_and_twenty_is_a_fault():
    assert physics.fraction_of_floor(6, 5.6).verdict == "physics"
    assert physics.fraction_of_floor(20, 5.6) == physics.FractionOfFloor(pytest.approx(0.28), "fault", 0.85)


def test_a_bucket_closes_once_it_reaches_its_cap_and_never_splits_a_parameter():
    assert physics.ddp_buckets([1, 1, 9, 2, 2, 2], cap_bytes=5) == [6, 9, 2]
    assert physics.ddp_buckets([4, 4, 4, 4], cap_bytes=8, first_cap_bytes=4) == [4, 8, 4]
    assert physics.ddp_buckets([3, 3, 3], cap_bytes=1) == [3, 3, 3]


def test_three_unequal_all_reduces_come_where_the_sum_over_the_cap_says_two():
    """pytorch#48880: 45 MB under a cap of 25 MB are not two halves."""
    assert physics.ddp_buckets([10, 20, 10, 5], cap_bytes=25, first_cap_bytes=1) == [5, 30, 10]


@pytest.mark.parametrize(
    "call",
    [
        lambda: physics.collective("all-reduce", 1, 1e9, 1e9),
        lambda: physics.collective("gossip", 4, 1e9, 1e9),
        lambda: physics.collective("all-reduce", 4, 0, 1e9),
        lambda: physics.collective("all-reduce", 4, 1e9, float("inf")),
        lambda: physics.fraction_of_floor(0, 1),
        lambda: physics.ddp_buckets([4, 0], 8),
        lambda: physics.ddp_buckets([4], -1),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r"needs at least|unknown collective|more than zero"):
        call()


def test_a_pipeline_idles_by_its_stages_over_its_microbatches():
    bubble = physics.pipeline_bubble(4, 8)
    assert (bubble.over_ideal, bubble.step_share) == (3 / 8, 3 / 11)
    assert physics.pipeline_bubble(4, 8, interleave=2).over_ideal == 3 / 16
    with pytest.raises(ValueError, match="microbatches"):
        physics.pipeline_bubble(4, 0)


def test_zero_shards_optimizer_state_first_then_gradients_then_weights():
    params, ranks = 7.5e9, 64
    assert physics.zero_memory(params, ranks, 0) == pytest.approx(120e9)
    assert physics.zero_memory(params, ranks, 1) == pytest.approx(31.4e9, rel=0.01)
    assert physics.zero_memory(params, ranks, 2) == pytest.approx(16.6e9, rel=0.01)
    assert physics.zero_memory(params, ranks, 3) == pytest.approx(1.9e9, rel=0.02)
    with pytest.raises(ValueError, match="stages 0 to 3"):
        physics.zero_memory(params, ranks, 4)
