"""A fair score tells good searches from bad ones."""

import numpy as np
import pytest

from grader import bots
from grader.grade import grade
from tests.grader import simulated

AT_LEAST = {"oracle": 0.90, "greedy-information": 0.85}
AT_MOST = {"random": 0.40, "run-everything": 0.50, "same-answer": 0.25, "box-ticker": 0.60, "hint-harvester": 0.50}
SEEDS = range(12)


def mean_total(bot, knowledge):
    cards = [grade(bots.play(bot, knowledge, cause, seed), knowledge) for cause in simulated.CAUSES for seed in SEEDS]
    return float(np.mean([card.total for card in cards]))


def test_every_bot_has_a_bound():
    assert set(bots.BOTS) == {*AT_LEAST, *AT_MOST}


@pytest.mark.parametrize(("bot", "bound"), AT_LEAST.items())
def test_a_good_search_scores_at_least(bot, bound, knowledge):
    assert mean_total(bot, knowledge) >= bound


@pytest.mark.parametrize(("bot", "bound"), AT_MOST.items())
def test_a_bad_habit_scores_at_most(bot, bound, knowledge):
    assert mean_total(bot, knowledge) <= bound


def test_the_same_seed_plays_the_same_attempt(knowledge):
    assert bots.play("random", knowledge, "no-overlap", 7) == bots.play("random", knowledge, "no-overlap", 7)
