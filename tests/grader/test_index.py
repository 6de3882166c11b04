"""Knowledge as arrays: what is in them, to the number, for two causes and three steps made by hand."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from grader.index import index_of
from tests.grader.two_causes import cause, cell, knowledge, step


@pytest.fixture
def index():
    return index_of(knowledge())


def test_a_surprise_has_two_per_cent_beforehand_and_the_causes_share_the_rest(index):
    assert index.priors == pytest.approx(np.array([[0.98 * 0.75, 0.98 * 0.25, 0.02], [0.49, 0.49, 0.02]]))


@pytest.mark.parametrize(("priors", "shares"), [((0, 0), (0.5, 0.5)), ((-1, 0.4), (0, 1)), ((0, 3), (0, 1))])
def test_priors_that_say_nothing_are_even_and_a_negative_one_is_none(priors, shares):
    causes = (cause("host-fault", "host", priors[0]), cause("bad-link", "fabric", priors[1]))
    assert index_of(knowledge(causes=causes)).priors[0, :2] == pytest.approx(0.98 * np.array(shares))


def test_each_cell_stands_in_its_place_and_no_chance_is_quite_none(index):
    assert index.p.shape == (4, 3, 3)
    assert index.p[0, 0] == pytest.approx([0.1, 0.7, 0.2])
    assert index.p[0, 1] == pytest.approx(np.array([0.9, 1e-6, 0.1]) / 1.000001, rel=1e-9)
    assert index.log_p[0, 1, 1] == pytest.approx(np.log(1e-6), abs=1e-5)
    assert index.log_p[1, 1, 0] == pytest.approx(np.log(0.01), abs=1e-5)


def test_where_a_cause_was_never_calibrated_the_step_says_nothing_of_it(index):
    assert index.p[1, 0] == pytest.approx([0.5, 0.5, 0])
    assert not index.excluded[1, :, 0].any()


def test_a_surprise_shows_anything_half_as_the_causes_do_and_half_evenly(index):
    assert index.p[0, 2] == pytest.approx([(0.5 + 1 / 3) / 2, (0.35 + 1 / 3) / 2, (0.15 + 1 / 3) / 2], abs=1e-5)
    assert index.p[1, 2, :2] == pytest.approx([((0.5 + 0.01) / 2 + 0.5) / 2, ((0.5 + 0.99) / 2 + 0.5) / 2])
    assert index.p.sum(axis=2) == pytest.approx(np.ones((4, 3)))


def test_what_is_bounded_by_a_tenth_is_excluded_but_not_by_an_unclear_reading(index):
    assert index.excluded.shape == (4, 3, 2)
    assert index.excluded[0].tolist() == [[True, False], [False, True], [False, False]]


def test_a_finding_that_would_exclude_every_cause_excludes_none(index):
    assert not index.excluded[2].any()


def test_steps_are_known_by_variant_by_experiment_and_by_price(index):
    assert index.variants == ("times", "rates[scope=all]", "swap")
    assert index.row_of == {"times": 0, "rates[scope=all]": 1, "swap": 2, "symptom": 3}
    assert index.symptom_row == 3
    assert [s.step for s in index.steps] == ["times", "rates", "swap", "symptom"]
    assert index.finding_of[0] == {"even": 0, "slow": 1, "inconclusive": 2}
    assert index.configuration.tolist() == [False, True, False, False]
    assert index.experiment.tolist() == [2, 1, 0, 2]
    assert index.rho.tolist() == [0.5, 0.5, 0.25]
    assert index.minutes.tolist() == [4, 24, 4, 0]


def test_one_cell_that_is_a_configuration_read_makes_the_step_one():
    mixed = step(
        "rates", ("nominal", "lower"),
        {"host-fault": cell({"nominal": 1.0}, basis="fit"), "bad-link": cell({"lower": 1.0}, basis="deterministic")},
    )  # fmt: skip
    assert index_of(knowledge(steps=(mixed,))).configuration.tolist() == [True, False]


def test_what_a_step_most_likely_shows_is_by_cause_or_healthy_and_else_its_first(index):
    assert index.most_likely(0, "host-fault") == "slow"
    assert index.most_likely(0, "healthy") == "even"
    assert index.most_likely(1, "bad-link") == "lower"
    assert index.most_likely(1, "host-fault") == "nominal"


def test_a_finding_that_a_cell_does_not_hold_is_never_the_most_likely():
    half = step("half", ("even", "slow"), {"bad-link": cell({"slow": 0.6})})
    assert index_of(knowledge(steps=(half,))).most_likely(0, "bad-link") == "slow"


def test_causes_are_known_by_place_and_family(index):
    assert (index.cause_row("bad-link"), index.cause_row("gremlins")) == (1, None)
    assert index.of_families(("fabric", "job")).tolist() == [False, True]
    assert index.as_dict(np.array([0.5, 0.25, 0.25])) == {"host-fault": 0.5, "bad-link": 0.25, "other": 0.25}
    assert index.is_settled("even") and not index.is_settled("inconclusive")


def test_an_index_is_made_once_for_each_knowledge_and_goes_with_it():
    first, second = knowledge(), knowledge(tempering={})
    assert index_of(first) is index_of(first)
    assert index_of(second) is not index_of(first)
    assert index_of(second).rho.tolist() == [0.5] * 3
    gone = weakref.ref(index_of(second))
    del second
    gc.collect()
    assert gone() is None
    assert index_of(first).knowledge == first


@pytest.mark.parametrize(
    ("family", "kind", "late"),
    [
        ("host", "rank", True), ("host", "host", True), ("input", "rank", True), ("input", "host", True),
        ("host", "none", False), ("input", "none", False), ("fabric", "rank", False), ("job", "host", False),
        ("host", "link", False),
    ],
)  # fmt: skip
def test_a_rank_is_late_by_a_fault_of_one_rank_or_host_or_of_its_input(family, kind, late):
    one = cause("one", family, 1).model_copy(update={"place_kind": kind})
    assert index_of(knowledge(causes=(one, cause("bad-link", "fabric", 1)))).late_ranks.tolist() == [late, False]
