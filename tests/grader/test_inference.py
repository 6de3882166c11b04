"""What the evidence in hand says."""

import numpy as np
import pytest

from grader import inference
from grader.bots import Player
from grader.index import index_of
from tests.grader import simulated

MICRO = "microbenchmark[placement=as-job,size=job]"


@pytest.fixture
def start(knowledge):
    index = index_of(knowledge)
    return inference.no_evidence(index).after(index.symptom_row, "collective-below-floor")


def read(belief, *readings):
    for variant, finding in readings:
        belief = belief.after(belief.index.row_of[variant], finding)
    return belief


def share(belief, cause):
    return belief.posterior()[belief.index.causes.index(cause)]


def test_even_ranks_and_a_slow_microbenchmark_leave_the_fabric(start):
    belief = read(start, ("per-rank-step-times", "even"), (MICRO, "below-floor"))
    assert set(belief.entailed()) == {"throttled-rank", "slow-input-rank", "no-overlap", "comparison-changed"}
    fabric = sum(share(belief, c) for c in ("degraded-link", "worse-placement", "fallback-transport"))
    assert fabric > 0.95


def test_a_surprise_never_becomes_certainty(start):
    belief = read(
        start, ("per-rank-step-times", "even"), (MICRO, "below-floor"), ("link-rates[scope=all]", "nominal"),
        ("placement-map", "as-before"), ("library-choices", "fabric-interface"),
    )  # fmt: skip
    assert belief.posterior()[-1] > 10 * start.posterior()[-1]
    assert belief.posterior()[:-1].max() < 0.5


def test_the_order_of_readings_changes_nothing(start):
    readings = [("per-rank-step-times", "even"), (MICRO, "below-floor"), ("host-telemetry", "even"),
                ("collective-arrivals", "together"), ("placement-map", "as-before")]  # fmt: skip
    there, back = read(start, *readings), read(start, *readings[::-1])
    assert there.posterior() == pytest.approx(back.posterior())
    assert there.entailed() == back.entailed()


def test_readings_of_one_run_count_for_less_than_of_two(start):
    measured = [("collective-arrivals", "together"), ("per-rank-step-times", "even")]
    together = read(start, *measured)
    row_a, row_b = (start.index.row_of[v] for v, _ in measured)
    column = start.index.causes.index("throttled-rank")
    logs = [
        start.index.log_p[r, column, start.index.finding_of[r][f]]
        for r, (_, f) in zip((row_a, row_b), measured, strict=True)
    ]
    gained = together.log_likelihood()[column] - start.log_likelihood()[column]
    assert sum(logs) - 1e-9 <= gained <= min(logs) + 1e-9


def test_a_settled_step_is_worth_nothing_again_and_an_inconclusive_one_is(start):
    row = start.index.row_of["per-rank-step-times"]
    assert inference.expected_gains(read(start, ("per-rank-step-times", "even")))[row] == 0
    assert inference.expected_gains(read(start, ("per-rank-step-times", "inconclusive")))[row] > 0.1


def test_the_worth_of_a_step_is_the_information_it_brings_on_average(start):
    """Against the plain definition: for a first reading of an experiment it is the mutual information."""
    row = start.index.row_of[MICRO]
    alive = ~start.out
    post = start.posterior()[:-1][alive] / start.posterior()[:-1][alive].sum()
    p = start.index.p[row, :-1][alive]
    joint = post[:, None] * p
    marginal = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nansum(joint * np.log2(joint / (post[:, None] * marginal)))
    assert inference.expected_gains(start)[row] == pytest.approx(information, abs=1e-6)


def test_nothing_is_worth_anything_once_one_cause_is_left(start):
    belief = read(start, ("per-rank-step-times", "one-rank-slow-compute"))
    assert len(belief.entailed()) == len(belief.index.causes) - 1
    assert inference.expected_gains(belief).max() == 0


def test_the_best_first_step_splits_straggler_from_network(start):
    row, bits = inference.best_step(start)
    assert start.index.variants[row] == "per-rank-step-times"
    assert bits > 0.5


def test_where_ranks_are_even_the_best_step_bisects(start):
    belief = read(start, ("per-rank-step-times", "even"))
    assert belief.index.variants[inference.best_step(belief)[0]] == MICRO


def test_the_posterior_is_calibrated(knowledge):
    """Over searches under causes drawn from the prior, a belief of p is right in a share p of cases."""
    draw = np.random.default_rng(37)
    beliefs, hits = [], []
    for number in range(400):
        cause = str(draw.choice(list(simulated.CAUSES)))
        player = Player(knowledge, cause, number)
        for row in draw.choice(len(player.index.variants), size=3, replace=False):
            player.step(int(row))
        beliefs.append(player.belief.posterior()[:-1])
        hits.append(np.array(player.index.causes) == cause)
    told, true = np.concatenate(beliefs), np.concatenate(hits)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (told >= low) & (told < high)
        if inside.sum() < 30:
            continue
        slack = 3 * np.sqrt(0.25 / inside.sum()) + 0.03
        assert abs(true[inside].mean() - told[inside].mean()) < slack, (low, high)
