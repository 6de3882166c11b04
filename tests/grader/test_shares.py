"""A rubric may share the parts of a criterion out otherwise, and name other roles: the mark is of what it gives."""

from __future__ import annotations

import pytest

from grader.criteria import prevention
from grader.grade import case_of
from grader.knowledge import MeasureKnowledge
from grader.rubric import Rubric
from scenarios import rubrics
from tests.grader import recovery, two_causes
from tests.grader.histories import histories, known
from tests.grader.played import (
    BISECT,
    CLOSE,
    DIAGNOSE,
    FIX,
    FLOOR,
    NO_STRAGGLER,
    SOUND,
    SPLIT,
    VERDICT,
    VERIFY,
    swapped,
    transcript,
    without,
)
from tests.grader.scoring import STANDARD, grade

TELEMETRY = {"kind": "step", "step": "host-telemetry", "finding": "even"}


def mark(events, knowledge, criterion, **settings):
    rubric = Rubric(name="x", weights={criterion: 1.0}, criteria={criterion: settings})
    made = recovery.transcript(events) if knowledge is recovery.knowledge() else transcript(events)
    return grade(made, knowledge, rubric).criteria[criterion]


def telling(knowledge, step, *roles):
    """The incident with other roles for one of its steps."""
    steps = tuple(s.model_copy(update={"tells": roles}) if s.step == step else s for s in knowledge.steps)
    return knowledge.model_copy(update={"steps": steps})


def test_the_parts_of_an_audit_are_scaled_to_what_the_rubric_gives():
    unclear = [{**e, "finding": "inconclusive"} if e == recovery.CONTENTS else e for e in recovery.SOUND]
    only = [e for e in unclear if e.get("step") not in ("schedule", "replay")]
    given = {"audited": 0.3, "apart": 0.1, "unsettled": 0.5}
    assert mark(recovery.SOUND, recovery.knowledge(), "audit", **given).score == pytest.approx(1)
    assert mark(only, recovery.knowledge(), "audit", **given).score == pytest.approx((0.15 + 0.1) / 0.4)


def test_the_parts_of_a_replay_are_scaled_to_what_the_rubric_gives():
    undeclared = [e for e in recovery.SOUND if e != recovery.TOLERANCE]
    given = {"replayed": 0.2, "declared": 0.6}
    assert mark(recovery.SOUND, recovery.knowledge(), "replay", **given).score == pytest.approx(1)
    assert mark(undeclared, recovery.knowledge(), "replay", **given).score == pytest.approx(0.2 / 0.8)


def test_the_parts_of_a_diagnosis_are_scaled_to_what_the_rubric_gives(knowledge):
    given = {"family": 0.2, "cause": 0.4, "place": 0.2}
    wrong_place = swapped(DIAGNOSE, {**DIAGNOSE, "where": "rank:1"})
    assert mark(SOUND, knowledge, "diagnosis", **given).score == pytest.approx(1)
    assert mark(wrong_place, knowledge, "diagnosis", **given).score == pytest.approx(0.75)


def test_the_parts_of_the_floor_are_scaled_to_what_the_rubric_gives(knowledge):
    no_verdict = [e for e in SOUND if e["kind"] != "verdict"]
    given = {"floor": 0.25, "verdict": 0.15, "working": 0.1}
    assert mark(SOUND, knowledge, "quantify", **given).score == pytest.approx(1)
    assert mark(no_verdict, knowledge, "quantify", **given).score == pytest.approx(0.7)


def test_the_parts_of_a_repair_are_scaled_to_what_the_rubric_gives(knowledge):
    given = {"declared": 0.1, "fits": 0.2, "one_at_a_time": 0.1, "floor": 0.05, "loss": 0.05}
    assert mark(SOUND, knowledge, "repair", **given).score == pytest.approx(1)
    only_loss = swapped(VERIFY, {**VERIFY, "against": "loss"})
    assert mark(only_loss, knowledge, "repair", **given).score == pytest.approx(0.9)


def test_the_halves_of_prevention_are_as_the_rubric_says(knowledge):
    said = {"kind": "prevent", "measures": ["link-metrics"], "alerts": [{"metric": "busbw", "threshold": 0.1}]}
    events = [said if e["kind"] == "prevent" else e for e in SOUND]
    assert mark(events, known(knowledge, *histories()), "prevention", alerts=0.2).score == pytest.approx(0.8)


@pytest.mark.parametrize("role", ["link", "placement", "overlap", "path"])
def test_each_role_of_digging_comes_after_the_bisection(role, knowledge):
    dug = telling(knowledge, "host-telemetry", role)
    assert mark(swapped(BISECT, TELEMETRY, BISECT), dug, "bisect").score == 0.4
    assert mark(swapped(BISECT, BISECT, TELEMETRY), dug, "bisect").score == 1


def test_a_step_that_bisects_without_parameters_is_the_job_s(knowledge):
    plain = telling(telling(knowledge, "microbenchmark"), "host-telemetry", "bisect")
    assert mark([FLOOR, SPLIT, TELEMETRY, DIAGNOSE, CLOSE], plain, "bisect").score == 1


def test_what_does_not_apply_has_no_score(knowledge):
    slow = {**SPLIT, "finding": "one-rank-slow-compute"}
    found = mark([FLOOR, slow, {**DIAGNOSE, "causes": ["throttled-rank"]}], knowledge, "bisect")
    assert (found.applicable, found.score, found.weight) == (False, 0.0, 0.0)


def test_a_second_diagnosis_after_the_fix_leaves_seven_tenths_and_a_third_half(knowledge):
    def score(*after):
        return mark(swapped(FIX, FIX, *after), knowledge, "diagnosis").score

    assert score() == 1
    assert score(DIAGNOSE) == pytest.approx(0.7)
    assert score(DIAGNOSE, DIAGNOSE) == pytest.approx(0.49)
    assert mark(swapped(DIAGNOSE, DIAGNOSE, DIAGNOSE), knowledge, "diagnosis").score == 1
    assert mark(without(FIX), knowledge, "diagnosis").score == 1


UNCLEAR = {"finding": "inconclusive"}
ARRIVALS = {"kind": "step", "step": "collective-arrivals", "finding": "together"}
SLOW = {**SPLIT, "finding": "one-rank-slow-compute"}


def credited(criterion, events, knowledge):
    """Events of the steps that efficiency does not charge, for this criterion."""
    if knowledge is recovery.knowledge():
        made, rubric = recovery.transcript(events), rubrics.for_track("checkpoints")
    else:
        made, rubric = transcript(events), STANDARD
    case = case_of(made, knowledge, rubric)
    return [taken.event for taken in case.criteria[criterion].credited(case)]


def test_the_first_settled_step_is_credited_and_only_it(knowledge):
    again = [{**SPLIT, **UNCLEAR}, ARRIVALS, SPLIT]
    assert credited("split", again, knowledge) == [1]
    assert credited("split", [{**SPLIT, **UNCLEAR}, {**ARRIVALS, **UNCLEAR}], knowledge) == [0]
    assert credited("split", [BISECT], knowledge) == []


def test_one_right_microbenchmark_is_credited_unless_a_straggler_was_shown(knowledge):
    assert credited("bisect", [SPLIT, {**BISECT, **UNCLEAR}, BISECT], knowledge) == [1]
    assert credited("bisect", [SLOW, BISECT], knowledge) == []
    assert credited("bisect", [BISECT, SLOW], knowledge) == [0]
    small = {**BISECT, "with": {"size": "small", "placement": "as-job"}}
    assert credited("bisect", [small], knowledge) == []


def test_one_step_for_each_question_is_credited(knowledge):
    library, changes = ({"kind": "step", "step": step, "finding": finding} for step, finding in (
        ("library-choices", "fabric-interface"), ("change-log", "changes")))  # fmt: skip
    assert credited("confirm", [changes, SPLIT, library, changes], knowledge) == [2, 0]
    assert credited("confirm", [changes], knowledge) == [0]
    both = telling(knowledge, "change-log", "library", "change")
    assert credited("confirm", [changes], both) == [0]


def test_in_recovery_the_first_settled_audit_generation_and_replay_are_credited():
    contents, schedule = recovery.CONTENTS, recovery.SCHEDULE
    replay = {"kind": "step", "step": "replay", "finding": "diverges"}
    events = [{**contents, **UNCLEAR}, schedule, contents, replay, replay]
    assert credited("audit", events, recovery.knowledge()) == [1]
    assert credited("generation", events, recovery.knowledge()) == [2]
    assert credited("replay", events, recovery.knowledge()) == [3]
    assert credited("generation", [{**contents, **UNCLEAR}], recovery.knowledge()) == [0]
    assert credited("replay", [contents], recovery.knowledge()) == []
    assert credited("replay", [{**replay, **UNCLEAR}, replay], recovery.knowledge()) == [0]


def floors(knowledge, *quantities, accepted=True):
    """The incident asking for these estimates alone."""
    kept = [e for e in knowledge.estimates if e.quantity in quantities and e.scale == "production"]
    kept = kept if accepted else [e.model_copy(update={"accepted": ()}) for e in kept]
    return knowledge.model_copy(update={"estimates": tuple(kept)})


@pytest.mark.parametrize(
    ("truths", "score"),
    [({}, 1.0), ({"fraction-of-floor": 0.3}, 0.8), ({"fraction-of-floor:production": 0.3}, 0.8)],
)
def test_working_is_asked_for_only_where_it_can_be_judged(truths, score, knowledge):
    asked = floors(knowledge, "collective-floor", "fraction-of-floor")
    rubric = Rubric(name="x", weights={"quantify": 1.0})
    made = transcript([FLOOR, VERDICT, SPLIT], truths=truths)
    assert grade(made, asked, rubric).criteria["quantify"].score == pytest.approx(score)


def test_a_floor_that_nothing_can_judge_is_none(knowledge):
    found = mark(SOUND, floors(knowledge, "collective-floor", "fraction-of-floor", accepted=False), "quantify")
    assert (found.score, found.why) == (0, "No floor was estimated, so nothing could tell a fault from physics.")


def test_what_is_free_is_free_though_nothing_is_lost_further_on(knowledge):
    assert mark(SOUND, knowledge, "quantify", free_factor=3, lost_factor=2).score == pytest.approx(1)


@pytest.mark.parametrize(
    ("truths", "symptom", "right"),
    [
        ({"fraction-of-floor": 0.85}, "collective-below-floor", "at-floor"),
        ({"fraction-of-floor": 0.84}, "collective-at-floor", "below-floor"),
        ({"fraction-of-floor:production": 0.9}, "collective-below-floor", "at-floor"),
        ({"collective-floor": 5.6}, "collective-at-floor", "at-floor"),
        ({}, "collective-at-floor", "at-floor"),
        ({}, "collective-below-floor", "below-floor"),
        ({"fraction-of-floor": 0.9}, "inconclusive", None),
        ({}, None, None),
    ],
)
def test_the_right_verdict_is_by_the_measured_fraction_and_else_by_the_symptom(truths, symptom, right, knowledge):
    for said in ("at-floor", "below-floor"):
        events = [FLOOR, {"kind": "verdict", "collective": said}]
        causes = ["degraded-link"] if symptom else []
        rubric = Rubric(name="x", weights={"quantify": 1.0}, criteria={"quantify": {"floor": 0, "working": 0}})
        made = transcript(events, truths=truths, symptom=symptom, causes=causes)
        assert grade(made, knowledge, rubric).criteria["quantify"].score == (1 if right in (None, said) else 0)


def test_only_a_whole_word_says_what_a_verification_was_held_against(knowledge):
    beside = swapped(VERIFY, {**VERIFY, "against": "floorplan"})
    assert "it was not measured against the floor" in mark(beside, knowledge, "repair").why


def test_of_fixes_that_do_nothing_the_first_is_told(knowledge):
    idle = [{"kind": "fix", "fix": fix} for fix in ("reboot-switches", "restore-overlap")]
    assert "“reboot-switches”" in mark(swapped(FIX, *idle), knowledge, "repair").why


def test_checks_of_a_repair_that_repaired_nothing_lose_a_part_of_their_shares(knowledge):
    useless = swapped(FIX, {"kind": "fix", "fix": "reboot-switches"})
    whole, left = (mark(useless, knowledge, "repair", unrepaired=share) for share in (1.0, 0.5))
    assert (whole.score, left.score) == (pytest.approx(0.65), pytest.approx(0.325))
    assert left.why.endswith("the job was left as slow as it was.") and "left as slow" not in whole.why
    eased = swapped(FIX, {"kind": "fix", "fix": "reboot-switches"}, FIX)
    assert "left as slow" not in mark(eased, knowledge, "repair", unrepaired=0.5).why
    assert mark(SOUND, knowledge, "repair", unrepaired=0.5).score == 1


def test_minutes_that_are_not_charged_are_told_where_the_two_figures_would_not_explain_the_mark(knowledge):
    tight, generous = (mark(SOUND, knowledge, "efficiency", free=free).why for free in (1.0, 10.0))
    assert "of yours are not charged: steps that other criteria ask for" in tight
    assert "not charged" not in generous and generous.startswith("You spent")


def test_minutes_that_carried_a_diagnosis_no_further_are_named(knowledge):
    nowhere = swapped(DIAGNOSE, {**DIAGNOSE, "causes": ["throttled-rank"], "where": "rank:1"})
    found = mark(nowhere, knowledge, "efficiency")
    assert found.score == 0 and found.events


def test_a_step_is_named_inside_a_sentence_as_a_person_says_it(knowledge):
    struck = swapped(NO_STRAGGLER, {**NO_STRAGGLER, "causes": ["worse-placement"]})
    title = next(s.title for s in knowledge.steps if s.step == "per-rank-step-times")
    assert f"struck out by {title[0].lower()}{title[1:]}," in mark(struck, knowledge, "rule-outs").why


def test_the_first_declaration_is_shown(knowledge):
    success = next(e for e in SOUND if e["kind"] == "success")
    found = mark(swapped(FIX, success, FIX), knowledge, "repair")
    assert found.events == (12, 14, 15)


def test_a_replay_with_parameters_is_one(knowledge):
    steps = recovery.knowledge().steps
    eight = tuple(s.model_copy(update={"with_": {"steps": "8"}}) if s.step == "replay" else s for s in steps)
    world = recovery.knowledge().model_copy(update={"steps": eight})
    events = [{**e, "with": {"steps": "8"}} if e.get("step") == "replay" else e for e in recovery.SOUND]
    rubric = Rubric(name="x", weights={"replay": 1.0})
    assert grade(recovery.transcript(events), world, rubric).criteria["replay"].score == 1


def test_of_replays_before_the_repair_the_first_is_told():
    replay = {"kind": "step", "step": "replay", "finding": "inconclusive"}
    events = [recovery.TOLERANCE, replay, {**replay, "finding": "diverges"}, recovery.FIX]
    assert mark(events, recovery.knowledge(), "replay").events == (1,)


def test_a_cause_is_spoken_for_by_what_it_rose_from_and_not_by_an_even_share():
    """Believed at a quarter beforehand, it stands at 46 per cent: more than one and a half times, and over 0.4."""
    world = two_causes.knowledge(steps=(two_causes.ARRIVALS,))
    events = [
        {"at_s": 0, "kind": "step", "step": "arrivals", "finding": "together"},
        {"at_s": 1, "kind": "rule_out", "causes": ["bad-link"], "because": ["arrivals"]},
    ]
    card = grade({"scenario": "two", "events": events}, world)
    assert [claim.status for claim in card.ruled_out] == ["contradicted"]


def test_what_came_late_is_not_said_where_it_costs_nothing(knowledge):
    strike = next(e for e in SOUND if e["kind"] == "rule_out")
    late = swapped(DIAGNOSE, strike, DIAGNOSE, events=[e for e in SOUND if e is not strike])
    assert "only after more steps" in mark(late, knowledge, "rule-outs").why
    assert "only after more steps" not in mark(late, knowledge, "rule-outs", late=1.0).why


def test_a_step_that_tells_both_is_not_held_against_the_one_that_told(knowledge):
    both = telling(knowledge, "host-telemetry", "link", "straggler")
    assert mark([{**TELEMETRY, **UNCLEAR}, SPLIT], both, "split").score == 1


def test_a_scorecard_names_the_revision_of_its_rubric(knowledge):
    rubric = Rubric(name="x", revision=3, weights={"split": 1.0})
    assert grade(transcript([]), knowledge, rubric).rubric_revision == 3


def test_two_families_that_the_readings_speak_against_earn_nothing(knowledge):
    both = swapped(DIAGNOSE, {**DIAGNOSE, "causes": ["throttled-rank", "no-overlap"], "confidence": None})
    assert mark(both, knowledge, "diagnosis").score == pytest.approx(0, abs=0.01)


def test_the_cause_that_the_readings_spoke_for_is_told_though_it_is_the_last_of_all(knowledge):
    """At the floor, alike and overlapped: that the comparison changed, the last of the causes."""
    reads = [{"kind": "step", "step": step, "finding": finding} for step, finding in (
        ("overlap-trace", "overlapped"), ("placement-map", "as-before"))]  # fmt: skip
    bisected = {**BISECT, "finding": "at-floor"}
    named = {**DIAGNOSE, "causes": ["no-overlap"], "where": None}
    made = transcript([SPLIT, bisected, *reads, named, CLOSE], causes=["no-overlap"], symptom="inconclusive")
    found = grade(made, knowledge, Rubric(name="x", weights={"diagnosis": 1.0})).criteria["diagnosis"]
    assert found.why.endswith("; it supported comparison changed more.")
    assert found.score < 0.2


def test_a_short_way_from_free_to_lost_is_walked_in_whole():
    assert [prevention._beyond(value, 4, 4.5) for value in (4, 4.25, 4.5, 5)] == [0, 0.5, 1, 1]
    assert [prevention._beyond(value, 4, 4) for value in (4, 4.01)] == [0, 1]


def two(*events, measures):
    """The prevention of an attempt at two causes of which the host's fault is the truth, and thrice as likely."""
    steps = (
        two_causes.step("look", ("a", "b"), {"host-fault": {"a": 0.5, "b": 0.5}, "bad-link": {"a": 0.6, "b": 0.4}}),
    )
    known_ = two_causes.knowledge(steps=steps, measures=measures)
    made = {"scenario": "two", "causes": ["host-fault"], "events": [{"at_s": 0, **event} for event in events]}
    return grade(made, known_, Rubric(name="x", weights={"prevention": 1.0})).criteria["prevention"].score


def test_a_measure_against_what_was_named_counts_only_where_readings_supported_it():
    """After `a` the link has two fifths of what the host has: less than half."""
    for_link, for_host = (
        MeasureKnowledge(id=cause, title=cause, catches=(cause,)) for cause in ("bad-link", "host-fault")
    )
    look = {"kind": "step", "step": "look", "finding": "a"}
    named = {"kind": "diagnose", "causes": ["bad-link"]}
    prevent = {"kind": "prevent", "measures": ["bad-link"]}
    assert two(look, named, prevent, measures=(for_link,)) == 0
    assert two(look, prevent, measures=(for_link,)) == 0
    assert two(look, named, {"kind": "prevent", "measures": ["host-fault"]}, measures=(for_host,)) == 1


def test_one_reading_is_enough_to_support_a_cause_and_none_is_not(knowledge):
    def caught(*before):
        said = {"kind": "prevent", "measures": ["step-time-distributions"]}
        named = {**DIAGNOSE, "causes": ["throttled-rank"], "where": None}
        return mark([*before, named, said], knowledge, "prevention").score

    assert caught(SLOW) == 1
    assert caught() == 0


def test_the_right_move_with_an_unclear_answer_earns_a_part_and_is_told_so(knowledge):
    split = mark(swapped(SPLIT, {**SPLIT, **UNCLEAR}), knowledge, "split")
    assert split.score == 0.5
    assert split.why.endswith(": the right question, but the answer stayed inconclusive.")
    bisect = mark(swapped(BISECT, {**BISECT, **UNCLEAR}), knowledge, "bisect")
    said = "The microbenchmark was the right move, but it stayed inconclusive."
    assert (bisect.score, bisect.why) == (0.6, said)


def test_measures_and_alerts_are_told_in_one_breath(knowledge):
    said = {"kind": "prevent", "measures": ["link-metrics"], "alerts": [{"metric": "busbw", "threshold": 0.7}]}
    events = [said if e["kind"] == "prevent" else e for e in SOUND]
    assert mark(events, known(knowledge, *histories()), "prevention").why == (
        "Of your measures, “link-metrics” would have shown it. On recorded runs your alert on bus bandwidth caught it "
        "8 of 8 times, at the first faulty point, with no false alarm."
    )
