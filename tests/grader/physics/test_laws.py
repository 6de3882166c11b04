"""What must hold of every quantity, whatever the numbers."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import physics

RANKS = st.integers(2, 100_000)
SIZE = st.floats(1e3, 1e13)
RATE = st.floats(1e6, 1e13)
TIME = st.floats(1e-6, 1e7)
MORE = st.floats(1.001, 1e3)
OPS = st.sampled_from(physics.OPS)


@given(OPS, RANKS, SIZE, RATE, MORE)
def test_only_the_ratio_of_size_and_rate_matters(op, ranks, size, rate, scale):
    here, there = physics.collective(op, ranks, size, rate), physics.collective(op, ranks, size * scale, rate * scale)
    assert there.time_s == pytest.approx(here.time_s)
    assert here.time_s * here.algbw_bits_per_s == pytest.approx(8 * size)
    assert here.busbw_bits_per_s == pytest.approx(here.busbw_factor * here.algbw_bits_per_s)


@given(OPS, RANKS, SIZE, RATE, MORE)
def test_more_bytes_more_ranks_and_slower_links_never_cost_less(op, ranks, size, rate, more):
    cost = physics.collective(op, ranks, size, rate).time_s
    assert physics.collective(op, ranks, size * more, rate).time_s > cost
    assert physics.collective(op, ranks, size, rate / more).time_s > cost
    assert physics.collective(op, ranks + 1, size, rate).time_s >= cost


@given(SIZE, RATE)
def test_however_many_ranks_an_all_reduce_moves_twice_the_array_and_no_more(size, rate):
    moved = physics.ring_all_reduce([2, 1e6, 1e12], size, rate).bytes_per_rank
    assert list(moved) == pytest.approx([size, 2 * size, 2 * size], rel=1e-5)
    assert max(moved) <= 2 * size


@given(RANKS, SIZE, RATE)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(ranks, size, rate):
    halves = [physics.collective(op, ranks, size, rate) for op in ("reduce-scatter", "all-gather")]
    whole = physics.ring_all_reduce(ranks, size, rate)
    assert whole.time_s == pytest.approx(sum(half.time_s for half in halves))
    assert physics.rounds("all-reduce", ranks) == sum(physics.rounds(half.op, ranks) for half in halves)


@given(RANKS, SIZE, RATE)
def test_hosts_of_one_gpu_and_nic_are_a_plain_ring(hosts, size, rate):
    ring, flat = physics.ring_all_reduce(hosts, size, rate), physics.hierarchical_all_reduce(hosts, 1, 1, size, rate)
    assert (flat.time_s, flat.bytes_per_nic) == pytest.approx((ring.time_s, ring.bytes_per_rank))
    assert flat.busbw_bits_per_s == pytest.approx(rate)


@given(OPS, RANKS, SIZE, RATE, st.floats(1e-7, 1e-2))
def test_latency_and_bandwidth_cost_the_same_at_the_knee(op, ranks, size, rate, alpha):
    cost = physics.alpha_beta(op, ranks, size, rate, alpha)
    assert physics.alpha_beta(op, ranks, cost.equal_size_bytes, rate, alpha).latency_share == pytest.approx(0.5)
    assert cost.time_s >= physics.collective(op, ranks, size, rate).time_s
    if op == "all-reduce":
        assert cost.equal_size_bytes * 8 == pytest.approx(ranks * alpha * rate)
    if size != pytest.approx(cost.equal_size_bytes):
        assert (cost.latency_share < 0.5) == (size > cost.equal_size_bytes)


@given(RANKS, SIZE, RATE, st.floats(0.01, 10))
def test_a_ring_is_as_fast_as_its_slowest_link_and_never_faster(ranks, size, rate, of_rate):
    whole, ring = physics.ring_all_reduce(ranks, size, rate), physics.degraded_ring(ranks, size, rate, of_rate * rate)
    assert ring.time_s == pytest.approx(whole.time_s * max(1, 1 / of_rate))
    assert ring.slowdown == pytest.approx(max(1, 1 / of_rate))


@given(TIME, TIME)
def test_a_fraction_of_the_floor_is_physics_from_its_threshold_on(observed, floor):
    found = physics.fraction_of_floor(observed, floor)
    assert (found.verdict == "physics") == (floor >= 0.85 * observed) or floor == pytest.approx(0.85 * observed)
    assert physics.fraction_of_floor(observed, observed * 0.85, 0.85 * (1 - 1e-9)).verdict == "physics"


@given(st.integers(1, 1000), st.integers(1, 64), RATE, RATE)
def test_hosts_of_a_leaf_never_get_more_than_the_uplinks_carry(hosts, uplinks, host_rate, uplink_rate):
    leaf = physics.oversubscription(hosts, uplinks, host_rate, uplink_rate)
    assert hosts * leaf.worst_host_bits_per_s <= uplinks * uplink_rate * (1 + 1e-9)
    assert leaf.worst_host_bits_per_s == pytest.approx(host_rate / max(1, leaf.ratio))


@given(st.floats(1e6, 1e13), st.integers(1, 10_000), st.floats(0, 16))
def test_every_stage_of_zero_holds_less_and_one_rank_shards_nothing(params, ranks, optimizer_bytes):
    held = physics.zero_memory(params, ranks, [0, 1, 2, 3], optimizer_bytes)
    assert all(more >= less * (1 - 1e-12) for more, less in pairwise(held))
    assert held[3] == pytest.approx(held[0] / ranks)
    assert physics.zero_memory(params, 1, 3, optimizer_bytes) == pytest.approx(held[0])


@given(st.integers(1, 64), st.booleans(), st.booleans())
def test_more_tensor_parallel_ranks_never_hold_more_activations(tensor, sequence, selective):
    def held(t, sequence=sequence):
        return physics.activation_memory(1, 2048, 4096, 32, 32, t, sequence, selective).bytes_per_rank

    assert held(tensor + 1) < held(tensor)
    assert held(tensor, sequence=True) <= held(tensor, sequence=False)
    assert held(tensor, sequence=True) == pytest.approx(held(1) / tensor)


@given(st.integers(1, 200), st.integers(1, 10_000), st.integers(1, 8))
def test_one_stage_has_no_bubble_and_microbatches_shrink_it(stages, microbatches, interleave):
    bubble = physics.pipeline_bubble(stages, microbatches, interleave)
    assert (bubble.step_share == 0) == (stages == 1)
    assert bubble.step_share == pytest.approx(bubble.over_ideal / (1 + bubble.over_ideal))
    assert physics.pipeline_bubble(stages, microbatches + 1, interleave).step_share <= bubble.step_share
    assert physics.pipeline_bubble(stages, microbatches * interleave).step_share == pytest.approx(bubble.step_share)


@given(st.integers(1, 100_000), st.floats(1, 100), st.floats(0, 1))
def test_one_rank_is_slow_with_its_own_probability_and_many_for_certain(ranks, factor, probability):
    one, many = (physics.straggler_cost(n, factor, probability) for n in (1, ranks))
    assert one.step_ratio == pytest.approx(1 + (factor - 1) * probability)
    assert 1 <= one.step_ratio <= many.step_ratio * (1 + 1e-12) <= factor * (1 + 1e-9)
    assert many.chance <= min(1, ranks * probability) * (1 + 1e-9)
    assert physics.straggler_cost(10**12, factor, 0.01).step_ratio == pytest.approx(factor)
    assert physics.straggler_cost(ranks, factor).step_ratio == pytest.approx(factor)


@given(TIME, TIME)
def test_a_score_is_a_ratio_of_medians_and_flags_below_three_quarters(own, reference):
    found = physics.straggler_score(own, reference)
    assert found.score * physics.straggler_score(reference, own).score == pytest.approx(1)
    assert found.flagged == (found.score < 0.75)


@given(TIME, st.integers(1, 10_000), st.integers(1, 100))
def test_perfect_scaling_is_one_hundred_per_cent(time, ranks, growth):
    strong = physics.scaling_efficiency(time, ranks, time / growth, ranks * growth, "strong")
    weak = physics.scaling_efficiency(time, ranks, time, ranks * growth, "weak")
    assert (strong.efficiency, strong.speedup) == pytest.approx((1, growth))
    assert (weak.efficiency, weak.speedup) == pytest.approx((1, growth))


@given(TIME, TIME, TIME)
def test_what_is_exposed_and_what_hides_is_all_communication(compute, communication, overlappable):
    step = physics.exposed_communication(compute, communication, overlappable)
    assert step.exposed_s + step.hidden_s == pytest.approx(communication)
    assert step.step_s >= max(compute, communication - overlappable) * (1 - 1e-12)
    assert physics.exposed_communication(compute, communication, 0).step_s == pytest.approx(compute + communication)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.integers(1, 10**9))
def test_buckets_lose_no_byte_and_all_but_the_last_reach_the_cap(sizes, cap):
    buckets = physics.ddp_buckets(sizes, cap)
    assert sum(buckets) == sum(sizes)
    assert all(bucket >= cap for bucket in buckets[:-1])
    assert max(buckets) < cap + max(sizes)


@given(st.floats(1e5, 1e10), st.floats(1e6, 1e9))
def test_buckets_of_a_whole_model_hold_all_of_it(params, cap):
    buckets = physics.ddp_buckets_of(params=[params], cap_bytes=cap)
    assert sum(buckets.sizes_bytes) == pytest.approx(4 * params)
    assert buckets.number == len(buckets.sizes_bytes) >= math.floor(4 * params / cap)


@given(st.floats(1e3, 1e7), st.floats(1, 1e3), st.floats(0, 1e3))
def test_young_and_daly_lose_least_to_first_order(mtbf, save, restart):
    best = physics.young_daly(mtbf, save)
    lost = physics.checkpoint_overhead(save, [best / 2, best, 2 * best], mtbf, restart).share
    assert lost[1] == min(lost)
    # The interval that counts the save, with restarts, is never shorter.
    assert physics.availability_interval(mtbf, save, restart) > best


@given(SIZE, st.integers(1, 10_000), RATE, RATE)
def test_a_pause_is_set_by_the_slower_side(size, writers, writer_rate, storage_rate):
    pause = physics.checkpoint_pause(size, writers, writer_rate, storage_rate)
    assert pause.time_s == pytest.approx(8 * size / min(writers * writer_rate, storage_rate))
    assert physics.checkpoint_pause(size, writers + 1, writer_rate, storage_rate).time_s <= pause.time_s
    assert (pause.limited_by == "writers") == (writers * writer_rate < storage_rate)


@given(st.integers(1, 10**6), st.integers(1, 10**6), TIME)
def test_failures_add_up_over_parts(gpus, reference, mtbf):
    here = physics.cluster_mtbf(gpus, reference, mtbf)
    assert here * gpus == pytest.approx(mtbf * reference)
    assert physics.cluster_mtbf(gpus, gpus, mtbf) == pytest.approx(mtbf)


@given(st.integers(1, 10**6), st.integers(1, 10**5), st.integers(1, 8))
def test_one_rank_sends_nothing_and_many_send_all_that_is_not_their_own(tokens, hidden, top_k):
    alone, many = (physics.moe_all_to_all(tokens, hidden, top_k, n, 2) for n in (1, 10**9))
    assert alone.step_bytes == 0
    assert many.dispatch_bytes == pytest.approx(2 * tokens * hidden * top_k)
    traffic = physics.tensor_parallel_traffic(1, tokens, hidden, 1, [1, 2, 10**9], 2)
    assert list(traffic) == pytest.approx([0, 8 * tokens * hidden, 16 * tokens * hidden])


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_every_rank_is_in_one_group_of_each_kind(data, tensor, pipeline, context, expert):
    world = data * tensor * pipeline * context * expert
    laid = physics.parallel_groups(world, tensor, pipeline, context, expert)
    sizes = {"tensor": tensor, "pipeline": pipeline, "context": context, "expert": expert, "expert_data": data}
    for name, size in {**sizes, "data": data * expert}.items():
        groups = getattr(laid, name)
        assert sorted(rank for group in groups for rank in group) == list(range(world))
        assert {len(group) for group in groups} == {size}
    assert laid.data_parallel == world // (tensor * pipeline * context)


@given(st.integers(1, 200), st.integers(64, 20_000), st.integers(1, 300_000), st.integers(1, 100_000))
def test_a_transformer_is_twelve_times_its_width_squared_and_more(layers, hidden, vocab, seq):
    params = physics.transformer_params(layers, hidden, vocab, seq)
    assert params == pytest.approx(12 * layers * hidden**2 + 13 * layers * hidden + (vocab + seq) * hidden)


@given(st.integers(1, 4096), st.integers(1, 4096), st.integers(1, 100))
def test_flops_and_days_grow_with_what_is_done(batch, gpus, more):
    shape = (2048, 32, 4096, 51200)
    assert physics.iteration_flops(batch * more, *shape) == pytest.approx(more * physics.iteration_flops(batch, *shape))
    days = physics.training_days(1e9, 1e12, gpus, 1e14)
    assert physics.training_days(1e9, 1e12, gpus * more, 1e14) == pytest.approx(days / more)
    assert physics.training_days(1e9, 1e12, gpus, 1e14, "none") == pytest.approx(days * 6 / 8)
