"""Which causes share their runs, pair by pair: alike in place, in spread, in findings, and really tested."""

from __future__ import annotations

import numpy as np
import pytest

from grader import pooling

EVEN = np.linspace(-1, 1, 10)


def pools(data, findings=None):
    shaped = {cause: np.asarray(values, dtype=float).reshape(len(values), -1) for cause, values in data.items()}
    same = {cause: ["low"] * len(values) for cause, values in data.items()}
    return pooling.pool_measured(shaped, {**same, **(findings or {})})


def test_causes_alike_in_all_share_a_pool():
    assert pools({"a": EVEN, "b": EVEN + 0.1, "c": EVEN - 0.1}) == [("a", "b", "c")]


def test_a_difference_in_place_keeps_them_apart():
    assert pools({"a": EVEN, "b": EVEN + 2}) == [("a",), ("b",)]


def test_a_difference_in_spread_keeps_them_apart():
    assert pools({"a": EVEN, "b": EVEN * 8}) == [("a",), ("b",)]


def test_any_one_reading_that_differs_is_enough():
    two = np.column_stack([EVEN, EVEN])
    other = np.column_stack([EVEN, EVEN + 2])
    assert pools({"a": two, "b": other}) == [("a",), ("b",)]
    assert pools({"a": two, "b": two[::-1]}) == [("a", "b")]


def test_all_pairs_of_a_pool_are_alike_and_not_only_neighbours():
    """Each is like the next; the first and the last are not, so the last stays out."""
    steps = {"a": EVEN, "b": EVEN + 0.5, "c": EVEN + 1.0}
    assert pools(steps) == [("a", "b"), ("c",)]


def test_another_usual_finding_keeps_them_apart_though_the_readings_agree():
    assert pools({"a": EVEN, "b": EVEN}, {"b": ["high"] * 6 + ["low"] * 4}) == [("a",), ("b",)]


def test_a_share_of_findings_that_differs_keeps_them_apart():
    many = np.linspace(-1, 1, 40)
    rare, often = ["low"] * 39 + ["high"], ["low"] * 24 + ["high"] * 16
    assert pools({"a": many, "b": many}, {"a": rare, "b": often}) == [("a",), ("b",)]
    assert pools({"a": many, "b": many}, {"a": rare, "b": ["low"] * 37 + ["high"] * 3}) == [("a", "b")]


def test_causes_of_many_runs_come_first_and_one_of_few_joins_them():
    assert pools({"few": EVEN[:3], "many": EVEN}) == [("many", "few")]


def test_what_never_varies_is_alike_where_it_stands_at_the_same_place():
    assert pools({"a": [1.0] * 8, "b": [1.0] * 8}) == [("a", "b")]
    assert pools({"a": [1.0] * 8, "b": [2.0] * 8}) == [("a",), ("b",)]
    assert pools({"a": [1.0] * 8, "b": [1.0] * 7 + [1.1]}) == [("a", "b")]


@pytest.mark.parametrize(
    ("few", "many", "joins"), [(3, 5, True), (3, 4, False), (4, 4, True), (2, 10, False), (3, 3, False)]
)
def test_a_pair_is_tested_only_where_a_test_could_tell(few, many, joins):
    """Three against five that lie wholly apart give p = 2/56, three against four 2/35."""
    found = pools({"many": EVEN[:many], "few": EVEN[:few]})
    assert found == ([("many", "few")] if joins else [("many",), ("few",)])


def test_few_runs_join_by_those_that_could_be_tested_but_must_share_the_finding_of_all():
    three, four = EVEN[:3], EVEN[1:5]
    data = {"many": EVEN, "four": four, "three": three}
    assert pools(data) == [("many", "four", "three")]
    assert pools(data, {"three": ["high"] * 3}) == [("many", "four"), ("three",)]


def test_configuration_reads_pool_by_the_one_finding_that_each_gives():
    found = pooling.pool_deterministic(
        {"a": ["on"] * 3, "b": ["off"] * 3, "c": ["on"] * 4, "mixed": ["on", "off", "on"], "also": ["on", "off"]}
    )
    assert found == [("a", "c"), ("b",), ("mixed",), ("also",)]
    assert pooling.pool_deterministic({"once": ["on"], "twice": ["on", "on"]}) == [("once", "twice")]
