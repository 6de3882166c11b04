"""What a few readings say, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from grader.index import index_of
from grader.inference import Belief, best_step, expected_gains, no_evidence
from tests.grader.two_causes import ARRIVALS, RATES, SURPRISING, TIMES, cause, cell, knowledge, step

TIMES_ROW, RATES_ROW, SWAP_ROW, ARRIVALS_ROW = range(4)
HOST, LINK, OTHER = range(3)


@pytest.fixture
def start() -> Belief:
    return no_evidence(index_of(knowledge(steps=(TIMES, RATES, SURPRISING, ARRIVALS))))


def log(belief, cause_row):
    return belief.log_likelihood()[cause_row]


def test_before_any_reading_the_priors_stand(start):
    assert start.posteriors() == pytest.approx(start.index.priors)
    assert start.posterior() == pytest.approx([0.735, 0.245, 0.02])
    assert start.entailed() == ()
    assert start.log_likelihood().tolist() == [0, 0, 0]


def test_one_reading_weighs_each_cause_by_its_chance(start):
    after = start.after(TIMES_ROW, "even")
    weights = np.array([0.735 * 0.1, 0.245 * 0.9, 0.02 * (0.5 + 1 / 3) / 2])
    assert after.posterior() == pytest.approx(weights / weights.sum(), abs=1e-5)
    even = np.array([0.49 * 0.1, 0.49 * 0.9, 0.02 * (0.5 + 1 / 3) / 2])
    assert after.posteriors()[1] == pytest.approx(even / even.sum(), abs=1e-5)


def test_a_further_reading_of_one_run_counts_for_a_quarter(start):
    """ρ of the job is 0.25: log L = min l + ρ(Σ l − min l)."""
    both = start.after(TIMES_ROW, "even").after(ARRIVALS_ROW, "together")
    assert log(both, HOST) == pytest.approx(math.log(0.1) + 0.25 * math.log(0.3))
    assert log(both, LINK) == pytest.approx(math.log(0.8) + 0.25 * math.log(0.9), abs=1e-5)
    back = start.after(ARRIVALS_ROW, "together").after(TIMES_ROW, "even")
    assert back.log_likelihood() == pytest.approx(both.log_likelihood())


def test_readings_of_different_experiments_and_configuration_reads_are_multiplied(start):
    apart = start.after(TIMES_ROW, "even").after(SWAP_ROW, "stayed").after(RATES_ROW, "lower")
    assert log(apart, HOST) == pytest.approx(math.log(0.1) + math.log(0.96) + math.log(0.5))
    assert log(apart, LINK) == pytest.approx(math.log(0.9) + math.log(0.98) + math.log(0.99), abs=1e-5)


def test_a_settled_reading_again_is_nothing_new_and_an_unclear_one_is(start):
    settled = start.after(TIMES_ROW, "even")
    assert settled.after(TIMES_ROW, "slow") is settled
    assert settled.settled == {TIMES_ROW}
    unclear = start.after(TIMES_ROW, "inconclusive")
    assert unclear.settled == frozenset()
    again = unclear.after(TIMES_ROW, "even")
    assert log(again, HOST) == pytest.approx(math.log(0.1) + 0.25 * math.log(0.2))
    config = start.after(RATES_ROW, "lower")
    assert config.after(RATES_ROW, "nominal") is config


def test_what_readings_exclude_adds_up_and_stays(start):
    assert start.after(TIMES_ROW, "even").entailed() == ("host-fault",)
    both = start.after(TIMES_ROW, "inconclusive").after(TIMES_ROW, "slow").after(ARRIVALS_ROW, "late")
    assert both.entailed() == ("bad-link",)


def test_a_belief_is_left_as_it_was_by_what_comes_after_it(start):
    first = start.after(TIMES_ROW, "inconclusive")
    before = first.log_likelihood().copy()
    first.after(ARRIVALS_ROW, "late").after(SWAP_ROW, "moved")
    assert first.log_likelihood() == pytest.approx(before)
    assert start.log_likelihood().tolist() == [0, 0, 0]


def test_evidence_against_every_cause_still_leaves_a_belief(start):
    """A likelihood far below what a number holds: only its differences count."""
    unlikely = replace(start, certain=np.array([-2000.0, -2001.0, -2050.0]))
    weights = np.array([0.735, 0.245 * math.exp(-1), 0.02 * math.exp(-50)])
    assert unlikely.posterior() == pytest.approx(weights / weights.sum())


def bits(shares):
    return -sum(p * math.log2(p) for p in shares if p > 0)


def plain_gain(belief, row):
    """By the definition: the mean fall of the entropy over the living causes, by what `after` would believe."""
    index, alive, best = belief.index, np.flatnonzero(~belief.out), 0.0
    for prior in range(2):
        now = belief.posteriors()[prior, alive]
        now = now / now.sum()
        left = 0.0
        for finding, column in index.finding_of[row].items():
            chance = float((now * index.p[row, alive, column]).sum())
            after = belief.after(row, finding).posteriors()[prior, alive]
            left += chance * bits(after / after.sum())
        best = max(best, bits(now) - left)
    return best


def test_what_a_step_is_worth_is_the_fall_of_the_entropy_to_expect(start):
    for belief in (start, start.after(TIMES_ROW, "inconclusive"), start.after(SWAP_ROW, "stayed")):
        gains = expected_gains(belief)
        assert gains.shape == (4,)
        for row in (TIMES_ROW, RATES_ROW, ARRIVALS_ROW):
            assert gains[row] == pytest.approx(plain_gain(belief, row), abs=1e-9), row
    assert expected_gains(start).min() > 0


def test_a_step_that_gave_its_answer_is_worth_nothing_and_the_symptom_takes_none_away(start):
    settled = start.after(start.index.symptom_row, "below").after(SWAP_ROW, "stayed")
    gains = expected_gains(settled)
    assert gains[SWAP_ROW] == 0
    assert (gains[[TIMES_ROW, RATES_ROW, ARRIVALS_ROW]] > 0).all()


def test_once_one_cause_is_left_nothing_is_worth_anything(start):
    assert expected_gains(start.after(TIMES_ROW, "even")).tolist() == [0, 0, 0, 0]


def test_the_best_step_is_worth_most_a_minute(start):
    assert best_step(start, np.array([1.0, 3.0, 0.0, 0.3])) == (TIMES_ROW, 1.0)
    assert best_step(start, np.array([1.0, 7.0, 0.0, 0.3])) == (RATES_ROW, 7.0)


def test_of_steps_about_as_good_the_one_with_a_role_in_the_sequence(start):
    """Arrivals cost two minutes and have a role; the ranks' times cost four and have none."""
    assert best_step(start, np.array([1.0, 0.0, 0.0, 0.476]))[0] == ARRIVALS_ROW
    assert best_step(start, np.array([1.0, 0.0, 0.0, 0.474]))[0] == TIMES_ROW
    assert best_step(start, np.array([1.0, 0.0, 0.99, 0.1]))[0] == TIMES_ROW
    assert best_step(start, np.array([0.96, 0.0, 1.0, 0.1]))[0] == TIMES_ROW


def test_a_step_that_takes_no_time_is_priced_at_half_a_minute():
    free = step("glance", ("a", "b"), {"host-fault": cell({"a": 1.0}), "bad-link": cell({"b": 1.0})}, minutes=0)
    belief = no_evidence(index_of(knowledge(steps=(TIMES, free))))
    assert best_step(belief, np.array([0.9, 0.1])) == (0, 0.9)
    assert best_step(belief, np.array([0.7, 0.1])) == (1, 0.1)


def test_an_even_choice_between_two_causes_is_worth_one_bit():
    sure = step("sure", ("a", "b"), {"host-fault": cell({"a": 1.0}), "bad-link": cell({"b": 1.0})}, experiment="sure")
    even = (cause("host-fault", "host", 0.9), cause("bad-link", "fabric", 0.1))
    belief = no_evidence(index_of(knowledge(steps=(sure,), causes=even)))
    assert expected_gains(belief)[0] == pytest.approx(1.0, abs=1e-4)
    assert best_step(belief) == (0, pytest.approx(1.0, abs=1e-4))
