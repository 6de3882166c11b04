"""A checkpoint incident: recovery audited by itself, one generation, a replay against a tolerance declared before."""

from __future__ import annotations

from grader import bots
from scenarios import rubrics
from tests.grader import recovery
from tests.grader.played import swapped
from tests.grader.recovery import CONTENTS, DIAGNOSE, FIX, REPLAY, SCHEDULE, SOUND, TOLERANCE
from tests.grader.scoring import grade

RUBRIC = rubrics.for_track("checkpoints")
STEP_TIMES = {"kind": "step", "step": "step-times", "finding": "even"}


def card(events):
    return grade(recovery.transcript(events), recovery.knowledge(), RUBRIC)


def score(events, criterion):
    return card(events).criteria[criterion].score


def without(*dropped):
    return [event for event in SOUND if event not in dropped]


def test_a_sound_audit_earns_nearly_everything():
    found = card(SOUND)
    assert found.total > 0.97
    assert {name: mark.why for name, mark in found.criteria.items() if mark.applicable and mark.score < 1} == {}


def test_reading_only_how_fast_it_runs_audits_nothing():
    only_speed = [STEP_TIMES, {**DIAGNOSE, "because": ["step-times"]}, TOLERANCE, FIX]
    mark = card(only_speed).criteria["audit"]
    assert mark.score == 0
    assert "does not say whether it resumed" in mark.why


def test_a_claim_about_recovery_that_rests_on_speed_costs():
    mixed = {"kind": "rule_out", "causes": ["generations-mixed"], "because": ["step-times"]}
    mark = card(swapped(SCHEDULE, STEP_TIMES, mixed, SCHEDULE, events=SOUND)).criteria["audit"]
    assert mark.score == 0.6
    assert "by readings of performance" in mark.why


def test_reading_speed_beside_recovery_costs_nothing():
    assert score([STEP_TIMES, *SOUND], "audit") == 1


def test_a_generation_never_checked_earns_nothing_and_an_unclear_one_half():
    assert score(without(CONTENTS), "generation") == 0
    assert score(swapped(CONTENTS, {**CONTENTS, "finding": "inconclusive"}, events=SOUND), "generation") == 0.5


def test_a_tolerance_declared_after_the_replay_is_none():
    after = swapped(REPLAY, REPLAY, TOLERANCE, events=without(TOLERANCE))
    assert score(SOUND, "replay") == 1
    assert score(after, "replay") == score(without(TOLERANCE), "replay") == 0.6


def test_replaying_only_the_broken_state_leaves_half_of_the_replay():
    broken = {"kind": "step", "step": "replay", "finding": "diverges"}
    events = swapped(DIAGNOSE, TOLERANCE, broken, DIAGNOSE, events=without(REPLAY, TOLERANCE))
    mark = card(events).criteria["replay"]
    assert mark.score == 0.6 * 0.5 + 0.4
    assert "After the repair nobody replayed it again." in mark.why


def test_without_a_replay_nobody_knows_whether_it_resumes():
    mark = card(without(REPLAY)).criteria["replay"]
    assert mark.score == 0
    assert "nobody knows" in mark.why


def test_a_rubric_may_name_what_counts_as_a_tolerance():
    named = RUBRIC.model_copy(
        update={"criteria": type(RUBRIC.criteria).model_validate({"replay": {"tolerances": ["step-time"]}})}
    )
    assert grade(recovery.transcript(SOUND), recovery.knowledge(), named).criteria["replay"].score == 0.6


def test_a_repair_is_held_against_the_loss_and_no_floor_is_missed():
    assert "floor" not in card(SOUND).criteria["repair"].why


def test_where_no_step_can_tell_a_criterion_does_not_apply(knowledge):
    for name in ("audit", "generation", "replay"):
        events = {"scenario": "slow-all-reduce", "events": []}
        assert not grade(events, knowledge, RUBRIC).criteria[name].applicable


def test_a_bot_that_searches_well_checks_the_generation_and_replays_its_repair():
    known = recovery.knowledge()
    for cause in recovery.CAUSES:
        made = bots.play("greedy-information", known, cause, 1)
        marks = grade(made, known, RUBRIC).criteria
        assert (marks["generation"].score, marks["replay"].score) == (1, 1), cause
