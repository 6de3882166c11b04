"""The predictive of few runs, against the Student t that it is drawn from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from grader import predictive

PRIOR = np.array([[0.5]])
RUNS = np.array([[0.2], [-0.4], [1.1], [0.6], [-0.1], [0.3], [0.9], [-0.7], [0.5], [0.1]])
CUT = 0.8


def by_cut(values):
    return "high" if values["x"] > CUT else "low"


def exact(data, cut=CUT, prior=0.5):
    """P(next > cut): mean flat, variance worth two runs; Gelman et al., section 3.3."""
    n, df = len(data), 2 + len(data) - 1
    squares = 2 * prior + ((data - data.mean()) ** 2).sum()
    return stats.t.sf((cut - data.mean()) / math.sqrt(squares * (n + 1) / (n * df)), df)


@pytest.mark.parametrize(
    ("value", "scale", "scaled"),
    [
        (3.0, "linear", 3.0), (-2.0, "linear", -2.0), (math.e, "log", 1.0), (0.0, "log", math.log(1e-4)),
        (-1.0, "log", math.log(1e-4)), (0.5, "logit", 0.0), (0.9, "logit", math.log(9)),
        (0.0, "logit", math.log(1e-4 / (1 - 1e-4))), (1.0, "logit", math.log((1 - 1e-4) / 1e-4)),
        (1.7, "logit", math.log((1 - 1e-4) / 1e-4)),
    ],
)  # fmt: skip
def test_a_reading_is_put_on_its_scale_and_held_within_it(value, scale, scaled):
    assert predictive.to_scale(value, scale) == pytest.approx(scaled)


def test_what_is_drawn_is_put_back_however_far_it_lies():
    draws = np.array([-1e4, -1.0, 0.0, 1.0, 1e4])
    assert predictive.from_scale(draws, "linear") == pytest.approx(draws)
    assert predictive.from_scale(draws, "log")[:4] == pytest.approx([0, math.exp(-1), 1, math.e])
    assert predictive.from_scale(draws, "log")[4] == pytest.approx(math.exp(700))
    assert predictive.from_scale(draws, "logit")[1:4] == pytest.approx([1 / (1 + math.e), 0.5, math.e / (1 + math.e)])
    with np.errstate(all="raise"):
        ends = predictive.from_scale(np.array([-1e4, 1e4]), "logit")
    assert ends[0] == pytest.approx(math.exp(-700), abs=0) and ends[1] == 1


def test_a_block_holds_the_posterior_that_the_book_gives():
    (block,) = predictive.fit_blocks(np.array([[1.0], [2.0], [3.0]]), PRIOR)
    assert (block.columns, block.runs, block.nu, block.df) == ((0,), 3, 4, 4)
    assert block.mean == pytest.approx([2.0])
    assert block.psi == pytest.approx(np.array([[2 * 0.5 + 2.0]]))
    assert block.shape == pytest.approx(np.array([[3.0 * 4 / (3 * 4)]]))


def test_readings_that_move_together_are_one_block_and_others_each_their_own():
    apart = np.array([[-1, 1] * 6, [-1, -1, 1, 1] * 3, [-1] * 6 + [1] * 6], dtype=float).T
    assert [b.columns for b in predictive.fit_blocks(apart, np.eye(3))] == [(0,), (1,), (2,)]
    together = apart.copy()
    together[:, 2] = together[:, 0] + 0.01 * np.arange(12)
    (block,) = predictive.fit_blocks(together, np.eye(3))
    assert (block.columns, block.nu, block.df) == ((0, 1, 2), 4 + 11, 13)


def test_two_readings_that_never_part_still_leave_a_matrix_with_an_inverse():
    first = np.linspace(-1, 1, 10)
    twin = np.column_stack([first, first])
    (block,) = predictive.fit_blocks(twin, np.array([[0.4, 0.4], [0.4, 0.4]]))
    assert np.linalg.cholesky(block.shape).shape == (2, 2)
    assert block.psi[0, 0] == pytest.approx(block.psi[0, 1], rel=1e-8)
    assert block.psi[0, 0] > block.psi[0, 1]


def test_the_chance_of_a_finding_is_the_tail_of_the_t():
    found = predictive.predict(RUNS, ["linear"], ["x"], PRIOR, by_cut, ["high", "low"])
    assert found.p == pytest.approx([exact(RUNS[:, 0]), 1 - exact(RUNS[:, 0])], abs=1e-3)


def test_each_run_is_held_out_in_turn():
    found = predictive.predict(RUNS, ["linear"], ["x"], PRIOR, by_cut, ["high", "low"])
    wanted = [exact(np.delete(RUNS[:, 0], row)) for row in range(len(RUNS))]
    assert found.held_out[:, 0] == pytest.approx(wanted, abs=5e-3)
    assert found.held_out.sum(axis=1) == pytest.approx(np.ones(len(RUNS)))


def test_the_upper_bound_is_the_ninety_fifth_of_a_hundred_posterior_draws():
    """Against plain draws of (mean, variance): the same quantile of P(next > cut)."""
    draw = np.random.default_rng(7)
    data = RUNS[:, 0]
    n, df = len(data), 2 + len(data) - 1
    squares = 2 * 0.5 + ((data - data.mean()) ** 2).sum()
    variance = squares / draw.chisquare(df, 20_000)
    mean = draw.normal(data.mean(), np.sqrt(variance / n))
    wanted = np.quantile(stats.norm.sf((CUT - mean) / np.sqrt(variance)), 0.95)
    found = predictive.predict(RUNS, ["linear"], ["x"], PRIOR, by_cut, ["high", "low"])
    assert found.upper[0] == pytest.approx(wanted, abs=0.02)


def correlated():
    draw = np.random.default_rng(3)
    first = draw.normal(0, 1, 14)
    return np.column_stack([first, 0.8 * first + draw.normal(0, 0.4, 14)])


def test_the_difference_of_two_readings_is_judged_jointly():
    """A joint t with ν degrees: c·x is a t of as many, with scale c′Sc."""
    data, prior = correlated(), np.array([[1.0, 0.8], [0.8, 0.8]])
    (block,) = predictive.fit_blocks(data, prior)
    c = np.array([1.0, -1.0])
    spread = math.sqrt(c @ block.shape @ c)
    wanted = stats.t.sf((0.5 - c @ data.mean(axis=0)) / spread, block.df)
    classify = lambda v: "apart" if v["a"] - v["b"] > 0.5 else "near"  # noqa: E731
    found = predictive.predict(data, ["linear"] * 2, ["a", "b"], prior, classify, ["near", "apart"])
    assert found.p[1] == pytest.approx(wanted, abs=0.01)
    held = predictive.fit_blocks(data[1:], prior)[0]
    spread = math.sqrt(c @ held.shape @ c)
    wanted = stats.t.sf((0.5 - c @ data[1:].mean(axis=0)) / spread, held.df)
    assert found.held_out[0, 1] == pytest.approx(wanted, abs=0.02)


def test_the_bound_of_a_joint_fit_is_that_of_plain_draws():
    data, prior = correlated(), np.array([[1.0, 0.8], [0.8, 0.8]])
    (block,) = predictive.fit_blocks(data, prior)
    draw = np.random.default_rng(9)
    shares = []
    for covariance in stats.invwishart.rvs(block.nu, block.psi, size=4000, random_state=draw):
        mean = draw.multivariate_normal(block.mean, covariance / block.runs)
        off = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        shares.append(stats.norm.sf((0.5 - (mean[0] - mean[1])) / off))
    classify = lambda v: "apart" if v["a"] - v["b"] > 0.5 else "near"  # noqa: E731
    found = predictive.predict(data, ["linear"] * 2, ["a", "b"], prior, classify, ["near", "apart"])
    assert found.upper[1] == pytest.approx(np.quantile(shares, 0.95), abs=0.03)


def test_scale_and_names_reach_the_classifier():
    seen = []

    def classify(values):
        seen.append(dict(values))
        return "any"

    data = np.column_stack([RUNS[:, 0], np.tile([0.5, -0.5], 5)])
    predictive.predict(data, ["log", "logit"], ["rate", "share"], np.eye(2), classify, ["any"])
    assert len(seen) == predictive.POINTS
    assert set(seen[0]) == {"rate", "share"}
    assert np.median([one["rate"] for one in seen]) == pytest.approx(math.exp(RUNS.mean()), rel=0.05)
    assert np.median([one["share"] for one in seen]) == pytest.approx(0.5, abs=0.02)


def test_too_few_runs_and_a_reading_that_stands_still_are_no_fit():
    few = predictive.check_fit(RUNS[:7], PRIOR)
    assert few == predictive.FitCheck(False, None, "7 runs; a fit needs 8")
    assert predictive.check_fit(RUNS[:8], PRIOR).p is not None
    still = predictive.FitCheck(False, None, "a reading does not vary")
    assert predictive.check_fit(np.column_stack([RUNS, np.ones(10)]), np.eye(2)) == still
    assert predictive.check_fit(np.where(RUNS > 1, np.inf, RUNS), PRIOR) == still


def test_a_check_is_the_smaller_of_two_tests_and_pays_for_each_reading():
    fits = predictive.check_fit(RUNS, PRIOR)
    assert fits.fits and fits.reason == "" and fits.p > 0.05
    wild = np.append(RUNS[:, 0], 6.0)[:, None]
    fails = predictive.check_fit(wild, np.array([[0.2]]))
    assert not fails.fits and fails.reason == "the runs do not follow the fit"
    rest = wild[:-1, 0]
    outlier = stats.t.sf(
        (6.0 - rest.mean()) / math.sqrt((0.4 + ((rest - rest.mean()) ** 2).sum()) * 11 / (10 * 11)), 11
    )
    assert fails.p == pytest.approx(min(1.0, 2 * 11 * 2 * outlier), rel=1e-6)
    beside = np.column_stack([wild, np.append(RUNS[::-1, 0], 0.0)])
    assert predictive.check_fit(beside, np.diag([0.2, 0.5])).p == pytest.approx(2 * fails.p, rel=1e-6)


def test_runs_that_lie_closer_than_predicted_pass():
    close = np.linspace(-0.01, 0.01, 12)[:, None]
    found = predictive.check_fit(close, np.array([[1.0]]))
    assert found.fits and found.p > 0.5


@pytest.mark.parametrize(
    ("pit", "wide"),
    [
        ([0.5] * 20, True), ([0.6] * 20, True), ([0.4] * 20, True), ([0.001, 0.999] * 10, False),
        ([0.05 * at + 0.025 for at in range(20)], False),
    ],
)  # fmt: skip
def test_only_runs_that_keep_to_the_middle_were_predicted_too_widely(pit, wide):
    """Where each run falls among what the others predict: in the middle, at the ends, or anywhere."""
    assert predictive._is_too_wide(np.array(pit)) is wide


def test_readings_apart_have_the_product_of_their_densities_each_in_its_own_units():
    data = np.column_stack([RUNS[:, 0], 100 * np.tile([0.5, -0.5], 5)])
    blocks = predictive.fit_blocks(data, np.diag([0.5, 5000.0]))
    points = np.array([[0.3, 40.0], [-2.0, 0.0], [5.0, 500.0]])
    wanted = sum(
        stats.t.logpdf(points[:, at], block.df, loc=block.mean[0], scale=math.sqrt(block.shape[0, 0]))
        for at, block in enumerate(blocks)
    )
    assert len(blocks) == 2
    assert predictive._predictive_log_density(blocks, points) == pytest.approx(wanted)
