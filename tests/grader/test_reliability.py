"""A belief of p is right in a share p of cases: with the right table, with eight runs a cell, on a machine 10 % off."""

from __future__ import annotations

import numpy as np
import pytest

from tests.grader import reliability, simulated

ATTEMPTS = 1500
# What the expected calibration error may be at most. A table of 60 runs a cause stands for the right one.
CASES = {
    "the right table": (60, 1.0, 0.01),
    "eight runs a cell": (8, 1.0, 0.015),
    "a machine 10 % slower": (8, 0.9, 0.03),
    "a machine 10 % faster": (8, 1.1, 0.03),
}


@pytest.mark.parametrize("case", CASES)
def test_beliefs_are_borne_out(case):
    runs, slower, most = CASES[case]
    told, true = reliability.beliefs(simulated.knowledge_of(runs), attempts=ATTEMPTS, seed=11, slower=slower)
    bins = reliability.curve(told, true)
    error = reliability.expected_calibration_error(bins)
    assert error <= most, (error, bins)
    assert len(bins) >= 6, "beliefs of all sizes have to be tried"


@pytest.mark.parametrize("runs", [8, 60])
def test_no_bin_of_the_curve_is_far_off(runs):
    told, true = reliability.beliefs(simulated.knowledge_of(runs), attempts=ATTEMPTS, seed=12)
    for one in reliability.curve(told, true):
        slack = 3 * np.sqrt(0.25 / one.count) + 0.08
        assert abs(one.told - one.true) <= slack, one


def test_certainty_is_not_claimed_more_often_than_it_holds_on_another_machine():
    """What costs most is to be sure and wrong: of beliefs above 0.95 nine in ten hold, 10 % off either way."""
    for slower in (0.9, 1.1):
        told, true = reliability.beliefs(simulated.knowledge_of(8), attempts=ATTEMPTS, seed=13, slower=slower)
        sure = told >= 0.95
        assert sure.sum() > 100
        assert true[sure].mean() >= 0.90


def test_eliminations_that_readings_entail_are_rarely_wrong():
    """One reading excludes the true cause in at most the share that the bound allows, on average far less."""
    index = reliability.index_of(simulated.knowledge_of(8))
    draw = np.random.default_rng(5)
    wrong = tried = 0
    for _ in range(600):
        cause = str(draw.choice(index.causes))
        column = index.causes.index(cause)
        for variant, finding in reliability.findings(cause, draw, 1.0).items():
            row = index.row_of[variant]
            tried += 1
            wrong += bool(index.excluded[row, index.finding_of[row][finding], column])
    assert wrong / tried <= 0.02


def test_the_error_measures_what_it_says():
    told = np.array([0.9] * 100 + [0.1] * 100)
    right = np.array([True] * 90 + [False] * 10 + [True] * 10 + [False] * 90)
    assert reliability.expected_calibration_error(reliability.curve(told, right)) == pytest.approx(0, abs=1e-9)
    assert reliability.expected_calibration_error(reliability.curve(told, ~right)) == pytest.approx(0.8)
