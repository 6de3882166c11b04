"""Values that papers and documentation print, and that the formulas must give back. Each names its source."""

import math

import pytest

from grader import physics

HOUR = 3600.0


def test_a_seventy_billion_parameter_gradient_costs_five_point_six_seconds():
    cost = physics.collective("all-reduce", 1024, 140e9, 400e9)
    assert cost.time_s == pytest.approx(5.6, rel=0.002)
    assert cost.bytes_per_rank == pytest.approx(280e9, rel=0.002)


@pytest.mark.parametrize(("ranks", "factor"), [(2, 1.0), (4, 1.5), (8, 1.75)])
def test_all_reduce_factors_are_those_of_nccl_tests(ranks, factor):
    assert physics.busbw_factor("all-reduce", ranks) == pytest.approx(factor)


def test_eight_nics_a_host_cost_an_eighth():
    cost = physics.hierarchical_all_reduce(128, 8, 8, 140e9, 400e9)
    assert cost.time_s == pytest.approx(0.69, rel=0.01)
    # A NIC carries busbw·(k−1)/(n−1), with k hosts and n ranks.
    assert cost.busbw_bits_per_s * 127 / 1023 == pytest.approx(400e9)


def test_six_seconds_of_five_point_six_is_physics_and_twenty_is_a_fault():
    assert physics.fraction_of_floor(6, 5.6).ratio == pytest.approx(0.93, abs=0.005)
    assert physics.fraction_of_floor(6, 5.6).verdict == "physics"
    assert physics.fraction_of_floor(20, 5.6) == physics.FractionOfFloor(pytest.approx(0.28), "fault", 0.85)


def test_a_link_at_a_quarter_leaves_a_quarter_of_the_ring():
    healthy, cut = physics.ring_all_reduce(4, 14e6, 400e6), physics.degraded_ring(4, 14e6, 400e6, 100e6)
    assert (cut.time_s, cut.slowdown) == (pytest.approx(4 * healthy.time_s), 4.0)
    # Payload of what is left, over the wire floor: 0.25 × 1448/1514.
    assert healthy.time_s / physics.payload_floor_s(cut.time_s) == pytest.approx(0.239, abs=0.0005)


# Narayanan et al. 2021: layers, hidden, parameters in billions as printed; vocabulary 51,200, sequence 2,048.
NARAYANAN = [
    (24, 2304, 1.7),
    (30, 3072, 3.6),
    (36, 4096, 7.5),
    (40, 6144, 18.4),
    (48, 8192, 39.1),
    (60, 10240, 76.1),
    (80, 12288, 145.6),
    (96, 16384, 310.1),
    (105, 20480, 529.6),
    (128, 25600, 1008.0),
]


@pytest.mark.parametrize(("layers", "hidden", "billions"), NARAYANAN)
def test_transformers_have_the_parameters_that_narayanan_prints(layers, hidden, billions):
    assert round(physics.transformer_params(layers, hidden, 51200, 2048) / 1e9, 1) == billions


@pytest.mark.parametrize(
    ("params", "tokens", "gpus", "achieved", "days"),
    [(175e9, 300e9, 1024, 140e12, 34), (1e12, 450e9, 3072, 163e12, 84)],
    ids=["GPT-3", "1T"],
)
def test_training_takes_the_days_that_narayanan_prints(params, tokens, gpus, achieved, days):
    assert physics.training_days(params, tokens, gpus, achieved) == pytest.approx(days, abs=1)


def test_recomputed_steps_cost_eight_flop_a_parameter_and_token():
    """Equations 2 and 3 of Narayanan et al. agree with 8TP but for attention and the embeddings."""
    params, tokens = physics.transformer_params(96, 12288, 51200, 2048), 1536 * 2048
    flops = physics.iteration_flops(1536, 2048, 96, 12288, 51200)
    assert flops / (8 * params * tokens) == pytest.approx(1.03, abs=0.01)


@pytest.mark.parametrize(("attention", "printed"), [(True, 0.462), (False, 0.457)])
def test_palm_reaches_the_utilisation_it_prints(attention, printed):
    """PaLM, appendix B: 540B, 238.3K tokens/s on 6,144 TPU v4 of 275 TFLOP/s; 118 layers, 48 heads of 256."""
    shape = {"layers": 118, "hidden": 48 * 256, "seq": 2048} if attention else {}
    assert round(physics.mfu(540e9, 238.3e3, 6144, 275e12, **shape), 3) == printed


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_takes_the_memory_that_its_paper_prints(stage, gigabytes):
    """ZeRO, figure 1: 7.5B parameters on 64 ranks."""
    assert physics.zero_memory(7.5e9, 64, stage) / 1e9 == pytest.approx(gigabytes, abs=0.05)


@pytest.mark.parametrize(
    ("hidden", "heads", "share"), [(12288, 96, 0.70), (20480, 128, 0.65)], ids=["GPT-3", "MT-NLG 530B"]
)
def test_selective_recomputation_saves_what_korthikanti_prints(hidden, heads, share):
    kept = [physics.activation_memory(1, 2048, hidden, 96, heads, 8, True, selective) for selective in (False, True)]
    assert 1 - kept[1].bytes_per_rank / kept[0].bytes_per_rank == pytest.approx(share, abs=0.005)
    assert kept[0].attention_bytes / kept[0].bytes_per_rank == pytest.approx(share, abs=0.005)


def test_a_layer_of_gpt_3_keeps_114_bytes_an_element():
    """34 + 5as/h with a = 96, s = 2048, h = 12288; 24 and the scores divide among 8, and with sequence parallel all."""
    elements = 2048 * 12288
    assert physics.activation_memory(1, 2048, 12288, 1, 96).bytes_per_rank == 114 * elements
    assert physics.activation_memory(1, 2048, 12288, 1, 96, 8).bytes_per_rank == (10 + 24 / 8 + 80 / 8) * elements
    assert physics.activation_memory(1, 2048, 12288, 1, 96, 8, True).bytes_per_rank == 114 / 8 * elements


def test_a_checkpoint_of_bloom_costs_what_its_team_printed():
    """2.3 TB in 40 s every 3 h: 0.37 %."""
    assert physics.checkpoint_overhead(40, 3 * HOUR, 7.9 * HOUR, 0).save_share == pytest.approx(0.0037, abs=5e-5)
    assert physics.checkpoint_pause(2.3e12, 1, 8 * 2.3e12 / 40, 1e15).time_s == pytest.approx(40)


def test_sixteen_times_the_parts_fail_sixteen_times_as_often():
    """7.9 h at 1,024 GPUs; the inverse law gives 0.49 h at 16,384, where Meta projects 1.8 h by another."""
    assert physics.cluster_mtbf(16384, 1024, 7.9 * HOUR) / HOUR == pytest.approx(0.49, abs=0.005)


def test_intervals_between_saves_are_those_of_the_formulas_by_hand():
    assert physics.young_daly(5000, 10) == pytest.approx(math.sqrt(100_000))
    assert physics.availability_interval(4960, 10, 40) == pytest.approx(10 + math.sqrt(100_100))


def test_a_step_of_2_1_s_that_grows_to_2_8_s_keeps_three_quarters():
    assert physics.scaling_efficiency(2.1, 8, 2.8, 64, "weak").efficiency == pytest.approx(0.75)
    assert physics.scaling_efficiency(2.1, 8, 2.8, 64, "weak").speedup == pytest.approx(6)
    assert physics.scaling_efficiency(2.1, 8, 2.8, 64, "strong").efficiency == pytest.approx(0.75 / 8)


def test_a_rank_at_596_ms_of_250_is_flagged_and_one_at_three_quarters_is_not():
    assert physics.straggler_score(0.596, 0.250).flagged is True
    assert physics.straggler_score(4, 3) == physics.StragglerScore(0.75, False)


def test_eight_layers_of_tensor_parallel_send_what_the_sum_by_hand_says():
    """b·s·h of 2 bytes: 1 · 4096 · 8192 · 2 = 64 MiB an all-reduce, 7/4 of it sent, 4 a layer, 80 layers: 35 GiB."""
    assert physics.tensor_parallel_traffic(1, 4096, 8192, 80, 8, 2) == 35 * 2**30
    assert physics.tensor_parallel_traffic(1, 4096, 8192, 80, 1, 2) == 0


def test_experts_send_seven_eighths_of_every_copy_four_times():
    sent = physics.moe_all_to_all(1000, 100, 2, 8, 2)
    assert (sent.dispatch_bytes, sent.forward_bytes, sent.step_bytes) == (350_000, 700_000, 1_400_000)


def test_a_pipeline_idles_by_its_stages_over_its_microbatches():
    bubble = physics.pipeline_bubble(4, 8)
    assert (bubble.over_ideal, bubble.step_share) == (3 / 8, 3 / 11)
    assert physics.pipeline_bubble(4, 8, interleave=2).over_ideal == 3 / 16


def test_a_leaf_of_32_hosts_over_8_double_uplinks_is_two_to_one():
    leaf = physics.oversubscription(32, 8, 400e9, 800e9)
    assert (leaf.ratio, leaf.worst_host_bits_per_s) == (2.0, 200e9)
    assert physics.oversubscription(4, 8, 400e9, 800e9).worst_host_bits_per_s == 400e9


def test_a_bucket_closes_once_it_reaches_its_cap_and_never_splits_a_parameter():
    assert physics.ddp_buckets([1, 1, 9, 2, 2, 2], cap_bytes=5) == [6, 9, 2]
    assert physics.ddp_buckets([4, 4, 4, 4], cap_bytes=8, first_cap_bytes=4) == [4, 8, 4]
    assert physics.ddp_buckets([3, 3, 3], cap_bytes=1) == [3, 3, 3]


def test_three_unequal_all_reduces_come_where_the_sum_over_the_cap_says_two():
    """pytorch#48880: 45 MB under a cap of 25 MB are not two halves."""
    assert physics.ddp_buckets([10, 20, 10, 5], cap_bytes=25, first_cap_bytes=1) == [5, 30, 10]


def test_one_number_of_parameters_is_a_model_of_small_tensors():
    mebibyte = 1 << 20
    usual = physics.ddp_buckets_of(params=[13 * mebibyte])  # 52 MiB of gradients
    assert usual.sizes_bytes == [mebibyte, 25 * mebibyte, 25 * mebibyte, mebibyte]
    assert physics.ddp_buckets_of(params=[13 * mebibyte], cap_bytes=26 * mebibyte).number == 2
    assert physics.ddp_buckets_of(params=[10, 20], gradient_bytes=2).sizes_bytes == [60]


def test_communication_hides_as_far_as_there_is_room():
    assert physics.exposed_communication(0.5, 0.4, 0.3) == physics.Exposed(
        pytest.approx(0.1), pytest.approx(0.3), pytest.approx(0.6)
    )
    assert physics.exposed_communication(0.5, 0.2, 0.3).step_s == 0.5


def test_only_data_parallel_ranks_multiply_the_batch():
    assert physics.global_batch(2, 128, 8) == 2048


def test_mfu_asks_for_the_rest_of_the_shape():
    with pytest.raises(ValueError, match="give hidden and seq too"):
        physics.mfu(1e9, 1e5, 8, 1e15, layers=10)
