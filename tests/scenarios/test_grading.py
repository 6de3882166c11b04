"""An attempt to its scorecard: the rubric of its track, and alerts played to the bank's real runs."""

from __future__ import annotations

import pytest

from grader.rubric import Rubric
from scenarios import grading, library, rubrics
from scenarios.alert_trials import trials, with_histories
from scenarios.knowledge import knowledge_for
from tests.grader.played import PREVENT, SOUND, swapped, transcript

ONE = library.get("slow-all-reduce", 1)
GOOD = {"metric": "busbw-over-floor", "threshold": 0.6, "window": 3}


def prevention(**alert):
    said = {"kind": "prevent", "measures": [], "alerts": [{**GOOD, **alert}]}
    return grading.scorecard(transcript(swapped(PREVENT, said)), ONE)


def test_an_attempt_is_scored_by_the_rubric_of_its_track():
    card = grading.scorecard(transcript(SOUND), ONE)
    assert card.rubric == rubrics.for_track(ONE.track).name == "standard"
    assert card.track == "stragglers"


def test_an_alert_on_the_floor_finds_the_bad_link_in_recorded_runs():
    card = prevention()
    assert card.criteria["prevention"].score >= 0.9
    (alert,) = card.alerts
    assert alert.tried >= 8
    assert alert.detected >= 0.9 * alert.tried
    assert alert.delay_points is not None and alert.delay_points <= 5


def test_one_on_what_a_bad_link_does_not_touch_finds_nothing():
    card = prevention(metric="compute-score", threshold=0.5)
    assert card.criteria["prevention"].score <= 0.1


def test_a_nervous_one_pays_for_its_false_alarms():
    nervous, calm = prevention(metric="busy-score", threshold=0.99, window=1), prevention()
    assert nervous.alerts[0].false_alarms > calm.alerts[0].false_alarms
    assert nervous.criteria["prevention"].score < calm.criteria["prevention"].score


def test_histories_are_read_only_for_what_is_watched():
    known = knowledge_for(ONE)
    assert with_histories(known, ONE.table, frozenset()) is known
    filled = with_histories(known, ONE.table, frozenset({"step-time"}))
    assert {metric.id for metric in filled.metrics if metric.trials} == {"step-time"}
    assert with_histories(known, ONE.table, frozenset({"step-time"})) is filled


def test_another_rubric_may_be_asked_for():
    only = Rubric(name="only-split", weights={"split": 1.0})
    assert set(grading.scorecard(transcript(SOUND), ONE, only).criteria) == {"split"}


@pytest.mark.parametrize("key", library.keys())
def test_every_scenario_has_a_rubric(key):
    assert rubrics.for_track(library.get(key).track)


def test_histories_can_be_read_before_the_score_is_asked_for():
    trials.cache_clear()
    grading.read_histories(
        [{"measures": [], "alerts": [GOOD, {"metric": "mood"}, "junk"]}, {"measures": []}], ONE.table
    )
    assert trials.cache_info().currsize == 1
    prevention()
    assert trials.cache_info().misses == 1
