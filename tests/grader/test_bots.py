"""The bots play fair: the same seed gives the same attempt, and each can play every cause."""

import pytest

from grader import bots
from tests.grader import simulated
from tests.grader.scoring import grade


@pytest.mark.parametrize("bot", sorted(bots.BOTS))
def test_the_same_seed_plays_the_same_attempt(bot, knowledge):
    assert bots.play(bot, knowledge, "no-overlap", 7) == bots.play(bot, knowledge, "no-overlap", 7)


def test_another_seed_plays_another():
    known = simulated.knowledge()
    assert bots.play("random", known, "no-overlap", 7) != bots.play("random", known, "no-overlap", 8)


@pytest.mark.parametrize("bot", sorted(bots.BOTS))
@pytest.mark.parametrize("cause", sorted(simulated.CAUSES))
def test_every_bot_plays_every_cause(bot, cause, knowledge):
    assert 0 <= grade(bots.play(bot, knowledge, cause, 1), knowledge).total <= 1


def test_a_bot_that_nobody_knows_is_refused(knowledge):
    with pytest.raises(KeyError):
        bots.play("clairvoyant", knowledge, "no-overlap", 1)


def test_a_bot_says_only_the_eliminations_that_its_readings_entail_and_each_once(knowledge):
    made = bots.play("greedy-information", knowledge, "degraded-link", 1)
    struck = [cause for event in made["events"] if event["kind"] == "rule_out" for cause in event["causes"]]
    assert len(struck) == len(set(struck)) > 3
    assert {claim.status for claim in grade(made, knowledge).ruled_out} == {"entailed"}
