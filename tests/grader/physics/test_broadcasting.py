"""Arrays give what their elements give one by one; numbers give plain numbers."""

import dataclasses
import json

import numpy as np
import pytest

from grader import physics

WHOLE, REAL, SHARE = (2, 3, 8, 64), (1.5, 2.0, 7.25, 1e3), (0.0, 0.01, 0.5, 1.0)


def case(function, whole="", real="", share="", stage="", **fixed):
    """(function, its choices, values of its other arguments)."""
    kinds = ((whole, WHOLE), (real, REAL), (share, SHARE), (stage, (0, 1, 2, 3)))
    return function, fixed, {name: values for names, values in kinds for name in names.split()}


SHAPE = "batch seq hidden layers heads tensor_parallel"
FUNCTIONS = [
    *(case(physics.collective, "ranks", "size_bytes rate_bits_per_s", op=op) for op in physics.OPS),
    *(case(physics.alpha_beta, "ranks", "size_bytes rate_bits_per_s latency_s", op=op) for op in physics.OPS),
    case(physics.ring_all_reduce, "ranks", "size_bytes rate_bits_per_s"),
    case(physics.hierarchical_all_reduce, "hosts gpus_per_host nics_per_host", "size_bytes rate_bits_per_s"),
    case(physics.fraction_of_floor, real="observed_s floor_s threshold"),
    case(physics.degraded_ring, "ranks", "size_bytes rate_bits_per_s slowest_bits_per_s"),
    case(physics.oversubscription, "hosts uplinks", "host_rate_bits_per_s uplink_rate_bits_per_s"),
    case(physics.payload_floor_s, real="wire_floor_s"),
    case(physics.transformer_params, "layers hidden vocab seq"),
    case(physics.iteration_flops, "batch seq layers hidden vocab"),
    case(physics.training_days, "gpus", "params tokens achieved_flop_per_s", recompute="full"),
    case(physics.training_days, "gpus", "params tokens achieved_flop_per_s", recompute="none"),
    case(physics.mfu, "gpus layers hidden seq", "params tokens_per_s peak_flop_per_s"),
    case(physics.zero_memory, "ranks", "params weight_bytes gradient_bytes", "optimizer_bytes", "stage"),
    case(physics.activation_memory, SHAPE, sequence_parallel=False, selective=False),
    case(physics.activation_memory, SHAPE, sequence_parallel=True, selective=False),
    case(physics.activation_memory, SHAPE, sequence_parallel=False, selective=True),
    case(physics.activation_memory, SHAPE, sequence_parallel=True, selective=True),
    case(physics.pipeline_bubble, "stages microbatches interleave"),
    case(physics.global_batch, "microbatch data_parallel accumulation"),
    case(physics.tensor_parallel_traffic, "batch seq hidden layers tensor", "element_bytes"),
    case(physics.moe_all_to_all, "tokens hidden top_k experts_parallel", "element_bytes"),
    case(physics.exposed_communication, "", "compute_s", "communication_s overlappable_s"),
    case(physics.straggler_cost, "ranks", "slow_factor", "probability"),
    case(physics.straggler_score, real="own_median_s reference_median_s"),
    case(physics.scaling_efficiency, "ranks_1 ranks_n", "time_1_s time_n_s", kind="strong"),
    case(physics.scaling_efficiency, "ranks_1 ranks_n", "time_1_s time_n_s", kind="weak"),
    case(physics.checkpoint_size, "", "params weight_bytes", "optimizer_bytes"),
    case(physics.checkpoint_pause, "writers", "size_bytes writer_rate_bits_per_s storage_rate_bits_per_s"),
    case(physics.young_daly, real="mtbf_s save_s"),
    case(physics.availability_interval, "", "mtbf_s save_s", "restart_s"),
    case(physics.cluster_mtbf, "gpus reference_gpus", "reference_mtbf_s"),
    case(physics.checkpoint_overhead, "", "interval_s mtbf_s", "save_s restart_s"),
]
NAMES = [" ".join([function.__name__, *map(str, fixed.values())]) for function, fixed, _ in FUNCTIONS]


def parts(result):
    return dataclasses.asdict(result) if dataclasses.is_dataclass(result) else {"": result}


def same(one, other):
    return one == other if isinstance(one, str | bool) else one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize(("function", "fixed", "arguments"), FUNCTIONS, ids=NAMES)
def test_arrays_give_what_their_elements_give(function, fixed, arguments):
    # Rolled, so that the same place of two arguments never holds the same value by chance.
    columns = {name: np.roll(values, at) for at, (name, values) in enumerate(arguments.items())}
    of_arrays = parts(function(**fixed, **columns))
    for at in range(4):
        of_numbers = parts(function(**fixed, **{name: column[at] for name, column in columns.items()}))
        for name, value in of_numbers.items():
            element = np.broadcast_to(of_arrays[name], 4)[at]
            assert same(element.item(), value), name


@pytest.mark.parametrize(("function", "fixed", "arguments"), FUNCTIONS, ids=NAMES)
def test_numbers_give_plain_numbers(function, fixed, arguments):
    result = parts(function(**fixed, **{name: values[1] for name, values in arguments.items()}))
    assert json.loads(json.dumps(result)) == result
    assert {type(value) for value in result.values()} <= {int, float, bool, str}


def test_rows_and_columns_give_a_table():
    table = physics.collective("all-reduce", [[2], [4], [8]], 1e9, [1e9, 2e9]).time_s
    assert table.shape == (3, 2)
    assert table[1, 1] == physics.collective("all-reduce", 4, 1e9, 2e9).time_s


def test_a_sweep_of_a_hundred_thousand_sizes_is_one_call():
    sizes = np.linspace(1e3, 1e9, 100_000)
    assert physics.alpha_beta("all-reduce", 8, sizes, 400e9, 1e-5).time_s.shape == sizes.shape


@pytest.mark.parametrize(("function", "fixed", "arguments"), FUNCTIONS, ids=NAMES)
@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "seven", None, 10**400])
def test_nonsense_in_any_argument_is_refused_by_its_name(function, fixed, arguments, bad):
    for name in arguments:
        if bad is None and name in ("layers", "hidden", "seq", "probability"):
            continue  # not given is allowed there
        good = {other: values[1] for other, values in arguments.items()}
        with pytest.raises(ValueError, match=f"{name} must be|{name}: ZeRO"):
            function(**fixed, **{**good, name: bad})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: physics.collective("all-reduce", 1, 1e9, 1e9), "ranks must be a whole number of at least 2, not 1"),
        (lambda: physics.collective("all-reduce", [2, 1], 1e9, 1e9), "at least 2, not 1"),
        (lambda: physics.collective("all-reduce", 2.5, 1e9, 1e9), "not 2.5"),
        (lambda: physics.collective("gossip", 4, 1e9, 1e9), "op must be one of all-reduce, .* not 'gossip'"),
        (lambda: physics.collective("all-reduce", 4, 0, 1e9), "size_bytes must be more than zero"),
        (lambda: physics.zero_memory(1e9, 8, 4), "stages 0 to 3, not 4"),
        (lambda: physics.straggler_cost(8, 0.5), "slow_factor must be 1 or more"),
        (lambda: physics.straggler_cost(8, 2, 1.5), "probability must be from 0 to 1"),
        (lambda: physics.scaling_efficiency(1, 1, 1, 1, "linear"), "kind must be one of strong, weak"),
        (lambda: physics.ddp_buckets([4, 0], 8), "sizes_bytes must be more than zero"),
        (lambda: physics.ddp_buckets([], 8), "sizes_bytes must hold"),
        (lambda: physics.ddp_buckets([4], -1), "cap_bytes must be more than zero"),
        (lambda: physics.ddp_buckets_of(), "give one of the two"),
        (lambda: physics.ddp_buckets_of([1.0], [1.0]), "give one of the two"),
        (lambda: physics.ddp_buckets_of(params=[1e15]), "over 100,000 buckets"),
        (lambda: physics.parallel_groups(12, tensor=8), "world must be a multiple of tensor 8 = 8, and 12 is not"),
        (lambda: physics.parallel_groups(10**9), "world must be at most 131,072"),
        (lambda: physics.parallel_groups(8, tensor=2, order="data-pipeline"), "order must name tensor too"),
        (lambda: physics.parallel_groups(8, order="data-rows"), "'rows' does not fit"),
        (lambda: physics.parallel_groups(8, order="data-data"), "'data' does not fit"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(call, says):
    with pytest.raises(ValueError, match=says):
        call()
