"""What must hold of every score, on one search and small changes to it; `test_every_scenario` has it at large."""

from __future__ import annotations

import pytest

from tests.grader import simulated
from tests.grader.played import (
    A_LINK,
    BISECT,
    CHANGES,
    DIAGNOSE,
    FIX,
    FLOOR,
    LIBRARY,
    NO_STRAGGLER,
    NOT_THE_JOB,
    RATES,
    SOUND,
    SPLIT,
    SUCCESS,
    VERDICT,
    VERIFY,
    moved,
    swapped,
    transcript,
    without,
)
from tests.grader.scoring import grade

KNOWLEDGE = simulated.knowledge()
IDS = [c.id for c in KNOWLEDGE.causes]


def total(events, **head):
    return grade(transcript(events, **head), KNOWLEDGE).total


def test_the_floor_first_scores_above_the_floor_after_measuring():
    assert total(SOUND) > total(moved(FLOOR, after=BISECT)) > total(without(FLOOR))


def test_a_lucky_answer_scores_below_a_sound_search():
    lucky = [FLOOR, VERDICT, DIAGNOSE, SUCCESS, FIX, VERIFY]
    card = grade(transcript(lucky), KNOWLEDGE)
    assert card.labels == ("lucky",)
    assert card.total <= 0.30
    # The same readings, but the cause was another one that this run made look like a link.
    wrong = grade(transcript(SOUND, cause="worse-placement"), KNOWLEDGE)
    assert "lucky" not in wrong.labels
    assert wrong.total > card.total + 0.3


def test_right_after_a_step_that_told_nothing_is_still_lucky():
    idle = {"kind": "step", "step": "link-error-counters", "finding": "clean"}
    assert "lucky" in grade(transcript([FLOOR, VERDICT, idle, DIAGNOSE, FIX]), KNOWLEDGE).labels


def test_readings_that_excluded_the_true_cause_cost_nothing():
    card = grade(transcript(SOUND, cause="worse-placement"), KNOWLEDGE)
    assert "misled" in card.labels
    assert card.criteria["rule-outs"].score == grade(transcript(SOUND), KNOWLEDGE).criteria["rule-outs"].score


def test_repeating_a_settled_step_earns_nothing():
    again = grade(transcript(swapped(SPLIT, SPLIT, SPLIT)), KNOWLEDGE)
    assert again.steps[1].gain_bits == 0
    assert not again.steps[1].counted
    assert again.total <= total(SOUND)


def test_repeating_an_inconclusive_step_earns_what_it_is_worth():
    unsure = {**SPLIT, "finding": "inconclusive"}
    card = grade(transcript(swapped(SPLIT, unsure, SPLIT)), KNOWLEDGE)
    assert card.steps[1].gain_bits > 0.1
    assert card.criteria["split"].score == 1


def test_an_inconclusive_reading_excludes_nothing():
    card = grade(transcript([{**SPLIT, "finding": "inconclusive"}]), KNOWLEDGE)
    assert card.posteriors[1].entailed == card.posteriors[0].entailed


def test_eliminating_everything_scores_below_eliminating_what_is_entailed():
    everything = {**NO_STRAGGLER, "causes": [c for c in IDS if c != "degraded-link"]}
    all_at_once = [e for e in swapped(NO_STRAGGLER, everything) if e not in (NOT_THE_JOB, A_LINK)]
    assert grade(transcript(all_at_once), KNOWLEDGE).criteria["rule-outs"].score < 0.7
    assert total(all_at_once) < total(SOUND)


def test_striking_out_what_the_readings_speak_for_costs_most():
    def score(cause):
        extra = {"kind": "rule_out", "causes": [cause], "because": ["link-rates"]}
        card = grade(transcript(swapped(A_LINK, A_LINK, extra)), KNOWLEDGE)
        return card.criteria["rule-outs"].score, {r.status for r in card.ruled_out}

    before = {"kind": "rule_out", "causes": ["fallback-transport"], "because": ["per-rank-step-times"]}
    premature = grade(transcript(swapped(NO_STRAGGLER, NO_STRAGGLER, before)), KNOWLEDGE)
    contradicted, statuses = score("degraded-link")
    assert "contradicted" in statuses
    assert contradicted < premature.criteria["rule-outs"].score < 1


def test_taking_a_wrong_tick_back_costs_less():
    wrong = {"kind": "rule_out", "causes": ["degraded-link"], "because": ["per-rank-step-times"]}
    back = {"kind": "restore", "causes": ["degraded-link"]}
    kept = grade(transcript(swapped(NO_STRAGGLER, NO_STRAGGLER, wrong)), KNOWLEDGE).criteria["rule-outs"].score
    restored = (
        grade(transcript(swapped(NO_STRAGGLER, NO_STRAGGLER, wrong, back)), KNOWLEDGE).criteria["rule-outs"].score
    )
    assert kept < restored < 1


def test_naming_the_reading_is_worth_more_than_not():
    silent = [{**e, "because": []} if e["kind"] == "rule_out" else e for e in SOUND]
    assert total(silent) < total(SOUND)


def test_the_order_of_equally_informative_independent_steps_changes_nothing():
    placement = {"kind": "step", "step": "placement-map", "finding": "as-before"}
    one = swapped(RATES, placement, LIBRARY, RATES, events=without(LIBRARY))
    other = swapped(RATES, LIBRARY, placement, RATES, events=without(LIBRARY))
    assert total(one) == pytest.approx(total(other))


def test_an_early_change_log_costs_nothing_but_its_minutes():
    assert total(moved(CHANGES, after=VERDICT)) == pytest.approx(total(SOUND))


def test_events_past_the_time_budget_earn_nothing():
    short = KNOWLEDGE.model_copy(update={"time_budget_min": 20.0})
    card = grade(transcript(SOUND), short)
    assert card.criteria["diagnosis"].score == 0
    assert card.criteria["repair"].score == 0
    assert card.criteria["quantify"].score == 1
    assert not card.steps[2].counted


def test_verifying_against_the_floor_is_needed_for_full_marks():
    assert total(swapped(VERIFY, {**VERIFY, "against": "loss"})) < total(SOUND)
    assert total(without(VERIFY)) < total(swapped(VERIFY, {**VERIFY, "against": "floor"})) < total(SOUND)


@pytest.mark.parametrize(("levels", "cost"), [([1], 0.03), ([2], 0.06), ([3], 0.12), ([1, 2, 3], 0.21)])
def test_hints_cost_only_what_the_scale_says(levels, cost):
    hints = [{"kind": "hint", "level": level} for level in levels]
    assert total(swapped(SPLIT, *hints, SPLIT)) == pytest.approx(total(SOUND) - cost)


def test_an_empty_transcript_scores_nothing_and_is_no_error():
    assert grade({"scenario": "slow-all-reduce", "events": []}, KNOWLEDGE).total == 0
    for cause in IDS:
        assert grade({"scenario": "slow-all-reduce", "causes": [cause], "events": []}, KNOWLEDGE).total == 0


def test_events_after_the_close_change_nothing():
    card = grade(transcript([*SOUND, {"kind": "hint", "level": 3}, {**DIAGNOSE, "causes": ["no-overlap"]}]), KNOWLEDGE)
    assert card.total == total(SOUND)


def diagnosis_score(events, **changed):
    card = grade(transcript(swapped(DIAGNOSE, {**DIAGNOSE, **changed}, events=events)), KNOWLEDGE)
    return card.criteria["diagnosis"].score


def test_a_confidence_beyond_the_evidence_costs():
    early = [FLOOR, VERDICT, SPLIT, NO_STRAGGLER, DIAGNOSE]
    assert diagnosis_score(SOUND, confidence=1.0) == diagnosis_score(SOUND, confidence=0.9) == 1
    assert diagnosis_score(early, confidence=1.0) < diagnosis_score(early, confidence=0.25)
    assert diagnosis_score(SOUND, confidence=None) < 1


def test_a_set_of_causes_earns_its_share_less_a_price_for_size():
    one, two, everything = (["degraded-link"], ["degraded-link", "worse-placement"], IDS)
    scores = [diagnosis_score(SOUND, causes=causes) for causes in (one, two, everything)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_a_wrong_place_costs_and_a_right_one_may_be_any_that_is_accepted():
    assert diagnosis_score(SOUND, where="link:host1-leaf0") == 1
    assert diagnosis_score(SOUND, where="link:host2-leaf1") == diagnosis_score(SOUND, where=None) == 0.75


def test_two_changes_at_once_cost():
    other = {"kind": "fix", "fix": "reboot-switches"}
    assert total(swapped(FIX, FIX, other)) < total(SOUND)


def test_a_prediction_moves_the_score_by_how_likely_it_was():
    def score(finding):
        said = {"kind": "predict", "step": "link-rates", "with": {"scope": "all"},
                "expect": [{"causes": ["degraded-link"], "finding": finding}]}  # fmt: skip
        silent = [e for e in SOUND if e["kind"] != "rule_out"]
        return grade(transcript(swapped(RATES, said, RATES, events=silent)), KNOWLEDGE).criteria["rule-outs"].score

    assert score("one-link-lower") > score("nominal") == 0
