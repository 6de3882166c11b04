"""Small cases worked out by hand, at the edges where a wrong sign, base or threshold would show."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from grader import physics
from grader.knowledge import Knowledge
from grader.physics import buckets, collectives, memory, numbers, parallel, stragglers, transformers

MIB = 1 << 20


@pytest.mark.parametrize(
    ("op", "rounds", "factor"),
    [
        ("all-reduce", (2, 6, 10, 14, 16), 2.0), ("reduce-scatter", (1, 3, 5, 7, 8), 1.0),
        ("all-gather", (1, 3, 5, 7, 8), 1.0), ("all-to-all", (1, 3, 5, 7, 8), 1.0),
        ("broadcast", (1, 2, 3, 3, 4), None), ("reduce", (1, 2, 3, 3, 4), None),
    ],
)  # fmt: skip
def test_rounds_and_factors_of_every_collective_by_its_ranks(op, rounds, factor):
    """Ring: once round less one, twice for an all-reduce; trees: the number of doublings, and the array once."""
    ranks = [2, 4, 6, 8, 9]
    found = [physics.rounds(op, n) for n in ranks]
    assert found == [*rounds] and {type(one) for one in found} == {int}
    assert physics.rounds(op, ranks).tolist() == [*rounds]
    factors = [1.0 if factor is None else factor * (n - 1) / n for n in ranks]
    assert [physics.busbw_factor(op, n) for n in ranks] == pytest.approx(factors)
    assert physics.busbw_factor(op, ranks).tolist() == pytest.approx(factors)
    assert type(physics.busbw_factor(op, 4)) is float and physics.busbw_factor(op, ranks).dtype == float


def test_latency_and_bandwidth_by_hand():
    """8 ranks, 1 MB at 8 Gb/s: 14 rounds of 25 µs are 350 µs, 1.75 MB take 1.75 ms; even at 200 kB."""
    cost = physics.alpha_beta("all-reduce", 8, 1e6, 8e9, 25e-6)
    assert (cost.latency_s, cost.bandwidth_s, cost.time_s) == pytest.approx((350e-6, 1.75e-3, 2.1e-3))
    assert (cost.rounds, cost.latency_share, cost.equal_size_bytes) == (14, pytest.approx(1 / 6), pytest.approx(2e5))
    assert physics.latency_share("all-reduce", 8, 1e6, 8e9, 25e-6) == pytest.approx(1 / 6)
    assert physics.latency_share("broadcast", 8, 1e6, 8e9, 25e-6) == pytest.approx(75 / 1075)


def test_a_time_at_the_threshold_is_physics_and_the_threshold_is_one_everywhere():
    assert physics.fraction_of_floor(1.0, 0.85).verdict == "physics"
    assert physics.fraction_of_floor(1.0, 0.849).verdict == "fault"
    assert physics.fraction_of_floor(1.0, 0.5, 0.5) == physics.FractionOfFloor(0.5, "physics", 0.5)
    assert physics.fraction_of_floor(1.0, 0.85).threshold == collectives.AT_FLOOR_FROM == 0.85
    assert Knowledge.model_fields["at_floor_from"].default == collectives.AT_FLOOR_FROM


def test_a_hierarchical_ring_by_hand():
    """4 hosts of 2 NICs, 8 GB: 2·3/4·8 GB = 12 GB, 6 GB a NIC, 1 s at 48 Gb/s; 32 ranks see 2·31/32·64 Gb/s."""
    cost = physics.hierarchical_all_reduce(4, 8, 2, 8e9, 48e9)
    assert (cost.time_s, cost.bytes_per_nic, cost.hosts, cost.nics_per_host) == (1.0, 6e9, 4, 2)
    assert cost.busbw_bits_per_s == pytest.approx(2 * 31 / 32 * 64e9)


def test_buckets_close_where_they_reach_their_cap():
    assert physics.ddp_buckets([4, 4, 4], cap_bytes=8) == [8, 4]
    assert physics.ddp_buckets([4, 4, 3], cap_bytes=8) == [11]
    assert physics.ddp_buckets([1, 2, 4], cap_bytes=100) == [7]
    two_tensors = physics.ddp_buckets_of(params=[MIB, MIB])
    assert two_tensors == physics.Buckets(2, [4 * MIB, 4 * MIB], 4 * MIB)
    assert physics.ddp_buckets_of(sizes_bytes=[MIB / 2] * 60).sizes_bytes == [MIB, 25 * MIB, 4 * MIB]
    assert physics.ddp_buckets_of([MIB, MIB], cap_bytes=2 * MIB) == physics.Buckets(1, [2 * MIB], 2 * MIB)
    assert (buckets.USUAL_CAP_BYTES, buckets.USUAL_FIRST_CAP_BYTES) == (25 * 1024**2, 1024**2)


def test_a_model_of_small_tensors_fills_its_buckets():
    assert physics.ddp_buckets_of(params=[5], cap_bytes=8).sizes_bytes == [8, 8, 4]
    assert physics.ddp_buckets_of(params=[4], cap_bytes=8, gradient_bytes=2).sizes_bytes == [8]
    assert physics.ddp_buckets_of(params=[100], cap_bytes=MIB).sizes_bytes == [400]
    assert physics.ddp_buckets_of(params=[100_000], cap_bytes=4).number == 100_000
    with pytest.raises(ValueError, match=r"^params make over 100,000 buckets; give fewer, or a larger cap$"):
        physics.ddp_buckets_of(params=[100_001], cap_bytes=4)


def test_what_hides_is_no_more_than_there_is_room_or_communication():
    assert physics.exposed_communication(0.5, 0.25, 1.0) == physics.Exposed(0.0, 0.25, 0.5)
    assert physics.exposed_communication(0.5, 0.75, 0.25) == physics.Exposed(0.5, 0.25, 1.0)
    assert physics.exposed_communication(0.5, 0.75, 0.0) == physics.Exposed(0.75, 0.0, 1.25)


@pytest.mark.parametrize(
    ("stage", "bytes_a_parameter"), [(0, 4 + 2 + 8), (1, 4 + 2 + 8 / 4), (2, 4 + 2 / 4 + 8 / 4), (3, 14 / 4)]
)
def test_zero_shards_by_its_stage_whatever_each_part_takes(stage, bytes_a_parameter):
    held = physics.zero_memory(1000, 4, stage, optimizer_bytes=8, weight_bytes=4, gradient_bytes=2)
    assert held == pytest.approx(1000 * bytes_a_parameter)
    assert physics.zero_memory(1000, 4, stage, optimizer_bytes=0) == pytest.approx(
        1000 * (2 / (4 if stage > 2 else 1) + 2 / (4 if stage > 1 else 1))
    )
    assert memory.ZERO_STAGES[stage] == stage


@pytest.mark.parametrize(
    ("tensor", "sequence", "selective", "kept", "scores"),
    [
        (1, False, False, 44, 10), (1, False, True, 34, 0), (1, True, False, 44, 10), (2, False, False, 27, 5),
        (2, True, False, 22, 5), (2, False, True, 22, 0), (2, True, True, 17, 0),
    ],
)  # fmt: skip
def test_activations_by_hand(tensor, sequence, selective, kept, scores):
    """b·s·h·l = 2·8·16·3 elements; scores 5·a·s/h = 5·4·8/16 = 10 bytes an element."""
    found = physics.activation_memory(2, 8, 16, 3, 4, tensor, sequence, selective)
    assert (found.bytes_per_rank, found.attention_bytes) == (768 * kept, 768 * scores)


def test_pipelines_batches_and_traffic_by_hand():
    assert physics.pipeline_bubble(1, 8) == physics.PipelineBubble(0.0, 0.0)
    assert physics.pipeline_bubble(5, 8, 2) == physics.PipelineBubble(0.25, 0.2)
    assert physics.global_batch(3, 5, 7) == 105
    # 4 all-reduces of 3·5·7 elements of 2 B in each of 2 layers, 2·3/4 of each sent.
    assert physics.tensor_parallel_traffic(3, 5, 7, 2, 4, 2) == 4 * 2 * 1.5 * 105 * 2
    # 5 tokens to 2 experts each, 3 numbers of 4 B, 3/4 of them elsewhere.
    sent = physics.moe_all_to_all(5, 3, 2, 4, 4)
    assert sent == physics.MoeTraffic(90.0, 180.0, 180.0, 360.0)
    assert physics.moe_all_to_all(5, 3, 2, 1, 4).step_bytes == 0


def test_groups_of_eight_ranks_by_hand():
    """2 pipeline stages of 2 data-parallel ranks of 2 tensor ranks: tensor fastest, then data."""
    found = physics.parallel_groups(8, tensor=2, pipeline=2)
    assert (found.data_parallel, found.expert_data_parallel) == (2, 2)
    assert found.tensor == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert found.data == found.expert_data == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert found.pipeline == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert found.expert == found.context == [[rank] for rank in range(8)]


def test_groups_in_another_order_and_with_experts():
    """Pipeline fastest; and 4 data-parallel ranks that hold 2 experts each twice."""
    found = physics.parallel_groups(8, tensor=2, pipeline=2, order="dp,tp-pp")
    assert (found.pipeline[0], found.tensor[0], found.data[0]) == ([0, 1], [0, 2], [0, 4])
    experts = physics.parallel_groups(8, context=2, expert=2)
    assert (experts.data_parallel, experts.expert_data_parallel) == (4, 2)
    assert experts.context == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert experts.expert == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert experts.expert_data == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert experts.data == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert parallel._mesh_sizes(131_072, {"tensor": 131_072}) == {"tensor": 131_072, "data": 1}
    assert parallel.SHORT_NAMES == {"pp": "pipeline", "dp": "data", "ep": "expert", "cp": "context", "tp": "tensor"}


def test_stragglers_by_hand():
    assert physics.straggler_cost(2, 3, 0.5) == physics.StragglerCost(pytest.approx(2.5), pytest.approx(0.75))
    assert physics.straggler_cost(2, 3) == physics.StragglerCost(3, 1)
    assert physics.straggler_cost(2, 3, 0) == physics.StragglerCost(1, 0)
    assert physics.straggler_cost(2, 1, 0.5).step_ratio == 1
    assert physics.straggler_score(4, 2.99).flagged is True
    assert stragglers.FLAGGED_BELOW == 0.75
    weak, strong = (physics.scaling_efficiency(2, 4, 1, 16, kind) for kind in ("weak", "strong"))
    assert weak == physics.Efficiency(2.0, 8.0) and strong == physics.Efficiency(0.5, 2.0)


def test_transformers_by_hand():
    """One layer of hidden size 2, 3 words, 5 places: 12·4 weights, 13·2 of biases and norms, 8·2 of embeddings."""
    assert physics.transformer_params(1, 2, 3, 5) == pytest.approx(12 * 4 + 13 * 2 + 8 * 2)
    assert physics.transformer_params(7, 2, 3, 5) == pytest.approx(7 * (12 * 4 + 13 * 2) + 8 * 2)
    # 96·2·3·5·16·(1 + 3/24 + 10/(16·5·4)) with B 2, s 3, l 5, h 4, V 10.
    assert physics.iteration_flops(2, 3, 5, 4, 10) == pytest.approx(96 * 2 * 3 * 5 * 16 * (1 + 3 / 24 + 10 / 320))
    day = transformers.SECONDS_A_DAY
    assert physics.training_days(10, 20, 2, 100 / day) == pytest.approx(8 * 10 * 20 / 200)
    assert physics.training_days(10, 20, 2, 100 / day, recompute="none") == pytest.approx(6 * 10 * 20 / 200)
    assert physics.mfu(10, 20, 2, 1200) == pytest.approx(6 * 10 * 20 / 2400)
    assert physics.mfu(10, 20, 2, 1200, 2, 3, 5) == pytest.approx((60 + 12 * 30) * 20 / 2400)


REFUSED = [
    (lambda: physics.rounds("gossip", 4),
     "op must be one of all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce, not 'gossip'"),
    (lambda: physics.busbw_factor("gossip", 4),
     "op must be one of all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce, not 'gossip'"),
    (lambda: physics.rounds("all-reduce", 1), "ranks must be a whole number of at least 2, not 1"),
    (lambda: physics.busbw_factor("broadcast", 1), "ranks must be a whole number of at least 2, not 1"),
    (lambda: physics.hierarchical_all_reduce(1, 8, 8, 1, 1), "hosts must be a whole number of at least 2, not 1"),
    (lambda: physics.hierarchical_all_reduce(2, 0, 8, 1, 1),
     "gpus_per_host must be a whole number of at least 1, not 0"),
    (lambda: physics.ddp_buckets([], 8), "sizes_bytes must hold a size for each parameter, each more than zero"),
    (lambda: physics.ddp_buckets([4], 8, 0), "first_cap_bytes must be more than zero and finite, not 0"),
    (lambda: physics.ddp_buckets([4], 0), "cap_bytes must be more than zero and finite, not 0"),
    (lambda: physics.ddp_buckets_of([4], params=[4]),
     "sizes and params: give one of the two, sizes in bytes or params in numbers"),
    (lambda: physics.ddp_buckets_of([4], gradient_bytes=0), "gradient_bytes must be more than zero and finite, not 0"),
    (lambda: physics.ddp_buckets_of(params=[-1]), "params must be more than zero and finite, not -4"),
    (lambda: physics.ddp_buckets_of(params=[1], cap_bytes=-2), "cap_bytes must be more than zero and finite, not -2"),
    (lambda: physics.zero_memory(1, 1, 4), "stage: ZeRO has the stages 0 to 3, not 4"),
    (lambda: physics.zero_memory(1, 1, [0, 7, 5]), "stage: ZeRO has the stages 0 to 3, not 7"),
    (lambda: physics.parallel_groups(12, tensor=8),
     "world must be a multiple of tensor 8 = 8, and 12 is not"),
    (lambda: physics.parallel_groups(9, tensor=2), "world must be a multiple of tensor 2 = 2, and 9 is not"),
    (lambda: physics.parallel_groups(1000, tensor=8, pipeline=4),
     "world must be a multiple of pipeline 4 · tensor 8 = 32, and 1,000 is not"),
    (lambda: physics.parallel_groups(131_073), "world must be at most 131,072 ranks to be listed, not 131073"),
    (lambda: physics.parallel_groups(0), "world must be a whole number of at least 1, not 0"),
    (lambda: physics.parallel_groups(8, tensor=0), "tensor must be a whole number of at least 1, not 0"),
    (lambda: physics.parallel_groups(8, order="data-rows"),
     "order must name each of pipeline-data-expert-context-tensor at most once, outermost first; 'rows' does not fit"),
    (lambda: physics.parallel_groups(8, order="dp-tp-data"),
     "order must name each of pipeline-data-expert-context-tensor at most once, outermost first; 'data' does not fit"),
    (lambda: physics.parallel_groups(4096, tensor=2048, order="dp-pp"),
     "order must name tensor too, which has 2,048 ranks, for example pipeline-data-expert-context-tensor"),
    (lambda: physics.straggler_cost(8, 0.5), "slow_factor must be 1 or more and finite, not 0.5"),
    (lambda: physics.straggler_cost(8, 2, 1.5), "probability must be from 0 to 1, not 1.5"),
    (lambda: physics.straggler_cost(8, 2, -0.5), "probability must be from 0 to 1, not -0.5"),
    (lambda: physics.scaling_efficiency(1, 1, 1, 1, "linear"), "kind must be one of strong, weak, not 'linear'"),
    (lambda: physics.training_days(1, 1, 1, 1, "some"), "recompute must be one of full, none, not 'some'"),
    (lambda: physics.mfu(1, 1, 1, 1, layers=2),
     "layers, hidden and seq go together: give hidden and seq too, or none of the three"),
    (lambda: physics.mfu(1, 1, 1, 1, layers=2, seq=3),
     "layers, hidden and seq go together: give hidden too, or none of the three"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_a_refusal_names_the_argument_what_is_allowed_and_what_was_given(call, sentence):
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("check", "good", "bad", "allowed"),
    [
        (numbers.more_than_zero, (1e-300, 2), (0, -1), "more than zero and finite"),
        (numbers.zero_or_more, (0, 1.5), (-1e-300, -1), "zero or more and finite"),
        (lambda name, value: numbers.at_least(name, value, 1.5), (1.5, 2), (1.49, 0), "1.5 or more and finite"),
        (numbers.share, (0, 1, 0.5), (-0.01, 1.01), "from 0 to 1"),
        (numbers.whole, (1, 2.0), (0, 1.5), "a whole number of at least 1"),
        (lambda name, value: numbers.whole(name, value, least=2), (2, 9), (1, 2.5), "a whole number of at least 2"),
    ],
)
def test_a_check_lets_its_edge_pass_and_names_what_it_refuses(check, good, bad, allowed):
    for one in good:
        assert check("it", one) == one
        assert check("it", [one, one]).tolist() == [one, one]
    for one in (*bad, float("inf"), float("nan")):
        for values in (one, [good[0], one]):
            with pytest.raises(ValueError) as refused:
                check("it", values)
            assert str(refused.value) == f"it must be {allowed}, not {one:g}"
    with pytest.raises(ValueError) as refused:
        check("it", "x" * 50)
    assert str(refused.value) == f"it must be {allowed}, not {'x' * 40}"


def test_numbers_come_out_plain_and_arrays_as_arrays():
    assert type(numbers.more_than_zero("it", 2)) is int and type(numbers.more_than_zero("it", 2.5)) is float
    assert type(numbers.more_than_zero("it", np.float64(2.5))) is float
    assert type(numbers.more_than_zero("it", np.asarray(2.5))) is float
    assert type(numbers.whole("it", 2.0)) is int and type(numbers.whole("it", np.asarray(2.0))) is int
    assert numbers.whole("it", [2, 3]).dtype == np.float64
    assert numbers.plain(np.asarray(3)) == 3 and type(numbers.plain(np.asarray("a"))) is str
    assert type(numbers.plain(np.float64(3))) is float
    assert numbers.plain([1, 2]).tolist() == [1, 2]
    assert numbers.choice("it", "a", ("a", "b")) == "a"


def test_infinities_and_certainties_are_reckoned_with_in_silence():
    """A warning would reach a log, or a person's terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="it must be a whole number of at least 1, not inf"):
            numbers.whole("it", [2, float("inf")])
        assert physics.straggler_cost(2, 3, 1).chance == 1
