"""The bounds of the bots on the flagship's own measured tables."""

import numpy as np
import pytest

from grader import bots
from grader.grade import grade
from grader.index import index_of
from grader.inference import best_step, no_evidence
from scenarios import library
from scenarios.knowledge import knowledge_for
from tests.grader.test_bots import AT_LEAST, AT_MOST

SEEDS = range(8)


@pytest.fixture(scope="module")
def flagship():
    return knowledge_for(library.get("slow-all-reduce"))


def mean_total(bot, knowledge):
    causes = [cause.id for cause in knowledge.causes]
    cards = [grade(bots.play(bot, knowledge, cause, seed), knowledge) for cause in causes for seed in SEEDS]
    return float(np.mean([card.total for card in cards]))


@pytest.mark.parametrize(("bot", "bound"), AT_LEAST.items())
def test_a_good_search_of_the_flagship_scores_at_least(bot, bound, flagship):
    assert mean_total(bot, flagship) >= bound


@pytest.mark.parametrize(("bot", "bound"), AT_MOST.items())
def test_a_bad_habit_in_the_flagship_scores_at_most(bot, bound, flagship):
    assert mean_total(bot, flagship) <= bound


def test_below_the_floor_the_best_first_step_splits_straggler_from_network(flagship):
    index = index_of(flagship)
    below = index.most_likely(index.symptom_row, "degraded-link")
    row, _ = best_step(no_evidence(index).after(index.symptom_row, below))
    assert "straggler" in index.steps[row].tells


def test_the_symptom_tells_at_most_one_bit(flagship):
    index = index_of(flagship)
    prior = index.priors[0][:-1] / index.priors[0][:-1].sum()
    joint = prior[:, None] * index.p[index.symptom_row, :-1]
    mass = joint.sum(axis=0)
    shown = mass > 0
    information = (joint[:, shown] * np.log2(joint[:, shown] / (prior[:, None] * mass[shown]) + 1e-300)).sum()
    assert information <= 1.0
