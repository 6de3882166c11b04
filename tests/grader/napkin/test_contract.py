"""Ids and argument names are a contract: people, checks and drills rely on them."""

import inspect
import re

import pytest

from grader.napkin.asking import answer
from grader.quantities import QUANTITIES
from grader.quantities.base import Quantity

# (required, optional)
CONTRACT = {
    "collective": ("op ranks size rate", ""),
    "ring-all-reduce": ("ranks size rate", ""),
    "hierarchical-all-reduce": ("hosts gpus_per_host nics_per_host size rate", ""),
    "alpha-beta": ("op ranks size rate latency", ""),
    "fraction-of-floor": ("observed floor", "threshold"),
    "degraded-ring": ("ranks size rate slowest", ""),
    "oversubscription": ("hosts uplinks host_rate uplink_rate", ""),
    "transformer-params": ("layers hidden vocab seq", ""),
    "iteration-flops": ("batch seq layers hidden vocab", ""),
    "training-days": ("params tokens gpus achieved", "recompute"),
    "mfu": ("params tokens_per_s gpus peak", "layers hidden seq"),
    "zero-memory": ("params ranks stage", "optimizer_bytes weight_bytes gradient_bytes"),
    "activation-memory": ("batch seq hidden layers heads", "tensor_parallel sequence_parallel selective"),
    "pipeline-bubble": ("stages microbatches", "interleave"),
    "global-batch": ("microbatch data_parallel accumulation", ""),
    "parallel-groups": ("world", "tensor pipeline context expert order"),
    "tensor-parallel-traffic": ("batch seq hidden layers tensor bytes", ""),
    "moe-all-to-all": ("tokens hidden top_k experts_parallel bytes", ""),
    "ddp-buckets": ("", "sizes params cap_mb gradient_bytes"),
    "exposed-communication": ("compute communication overlappable", ""),
    "straggler-cost": ("ranks slow_factor", "probability"),
    "straggler-score": ("own_median reference_median", ""),
    "scaling-efficiency": ("time_1 ranks_1 time_n ranks_n kind", ""),
    "checkpoint-size": ("params", "weight_bytes optimizer_bytes"),
    "checkpoint-pause": ("size writers writer_rate storage_rate", ""),
    "young-daly": ("mtbf save", ""),
    "availability-interval": ("mtbf save restart", ""),
    "cluster-mtbf": ("gpus reference_gpus reference_mtbf", ""),
    "checkpoint-overhead": ("save interval mtbf restart", ""),
}
EVERY = pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)


@pytest.mark.parametrize("id", CONTRACT)
def test_every_quantity_takes_the_arguments_of_the_contract(id):
    quantity = QUANTITIES[id]
    required = [a.name for a in quantity.arguments if quantity.is_required(a)]
    optional = [a.name for a in quantity.arguments if not quantity.is_required(a)]
    assert (required, optional) == tuple(names.split() for names in CONTRACT[id])


def test_there_is_no_quantity_beside_the_contract():
    assert set(QUANTITIES) == set(CONTRACT)


@EVERY
def test_arguments_feed_every_parameter_of_the_function(quantity: Quantity):
    parameters = list(inspect.signature(quantity.compute).parameters)
    assert sorted(a.parameter for a in quantity.arguments) == sorted(parameters)


@EVERY
def test_a_default_reads_back_as_what_the_function_takes(quantity: Quantity):
    defaults = {
        a.name: quantity.default_text(a) for a in quantity.arguments if quantity.default_text(a) not in ("", "optional")
    }
    given = dict(word.split("=", 1) for word in quantity.example.split())
    stated = [f"{name}={text}" for name, text in {**defaults, **given}.items()]
    assert answer(quantity, stated) == answer(quantity, quantity.example.split())


@EVERY
def test_every_quantity_says_what_it_is_and_where_it_comes_from(quantity: Quantity):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", quantity.id)
    assert min(len(text) for text in (quantity.title, quantity.formula, quantity.source)) > 3
    assert all(part.about for part in (*quantity.arguments, *quantity.results))
    assert quantity.compute.__doc__
