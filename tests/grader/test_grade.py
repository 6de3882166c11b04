"""The scorecard: its shape, its reasons, and what a hand-written transcript may leave out."""

import copy
import json

import pytest

from grader.transcript import TranscriptError
from scenarios import rubrics
from tests.grader.played import (
    BISECT,
    CLOSE,
    DIAGNOSE,
    FIX,
    FLOOR,
    LIBRARY,
    NO_STRAGGLER,
    RATES,
    SOUND,
    SPLIT,
    VERIFY,
    swapped,
    transcript,
    without,
)
from tests.grader.scoring import grade


def test_a_sound_search_earns_nearly_everything(knowledge):
    card = grade(transcript(SOUND), knowledge)
    assert card.total > 0.97
    assert {name: c.score for name, c in card.criteria.items() if c.score < 1} == {}
    assert card.labels == ()
    assert card.level is None


def test_the_json_holds_what_the_command_promises(knowledge):
    body = json.loads(json.dumps(grade(transcript(SOUND), knowledge).model_dump(mode="json")))
    assert set(body) >= {"total", "criteria", "labels", "posterior", "steps", "dimensions", "level"}
    assert set(body["criteria"]["quantify"]) >= {"score", "weight", "applicable", "events", "why"}
    assert set(body["steps"][0]) >= {"step", "gain_bits", "best_step", "best_gain_bits", "minutes"}
    assert set(body["dimensions"]) == {"correctness", "trade-offs", "measurement", "reliability", "judgment"}


def test_the_belief_is_told_after_the_symptom_and_after_each_step(knowledge):
    card = grade(transcript(SOUND), knowledge)
    assert [b.event for b in card.posteriors] == [-1, *(s.event for s in card.steps)]
    truth = [b.posterior["degraded-link"] for b in card.posteriors]
    assert truth[0] < 0.2 < 0.9 < truth[-1]
    assert set(card.posteriors[-1].entailed) >= {"no-overlap", "fallback-transport"}


def test_the_best_step_stands_beside_the_one_taken(knowledge):
    idle = {"kind": "step", "step": "link-error-counters", "finding": "clean"}
    step = grade(transcript([idle]), knowledge).steps[0]
    assert step.best_step == "per-rank-step-times"
    assert step.best_gain_bits > step.gain_bits


def test_the_best_path_finds_the_cause(knowledge):
    card = grade(transcript([]), knowledge)
    assert card.best_path[0].step == "per-rank-step-times"
    assert card.best_path[1].step == "microbenchmark[placement=as-job,size=job]"
    assert card.best_path[-1].certainty >= 0.95
    assert card.minutes_best == pytest.approx(sum(step.minutes for step in card.best_path), rel=0.5)


def test_a_hand_written_step_shows_what_it_most_likely_would(knowledge):
    bare = [{k: v for k, v in event.items() if k != "finding"} for event in SOUND]
    assert grade(transcript(bare), knowledge).total == grade(transcript(SOUND), knowledge).total
    other = grade(transcript(bare, cause="throttled-rank", symptom=None), knowledge)
    assert other.steps[0].finding == "one-rank-slow-compute"
    assert other.steps[1].finding == "at-floor"


def test_without_a_cause_a_step_needs_its_finding(knowledge):
    bare = [{k: v for k, v in SPLIT.items() if k != "finding"}]
    with pytest.raises(TranscriptError, match=r"event 0 \(step\): field finding: is missing"):
        grade(transcript(bare, causes=[]), knowledge)
    assert grade(transcript([SPLIT], causes=[]), knowledge).steps[0].gain_bits > 0


def test_a_verification_says_whether_the_fix_held(knowledge):
    held = grade(transcript(SOUND), knowledge).verifications[0]
    assert (held.held, held.against) == (True, ("floor", "loss"))
    still = grade(transcript(swapped(VERIFY, {**VERIFY, "finding": "below-floor"})), knowledge).verifications[0]
    assert still.held is False
    bare = {k: v for k, v in VERIFY.items() if k != "finding"}
    wrong_fix = {"kind": "fix", "fix": "reboot-switches"}
    shown = grade(transcript([SPLIT, BISECT, RATES, wrong_fix, bare]), knowledge).verifications[0]
    assert shown.finding == "below-floor"


def test_a_fix_does_good_only_at_the_right_place(knowledge):
    elsewhere = swapped(FIX, {**FIX, "where": "link:host2-leaf1"})
    mark = grade(transcript(elsewhere), knowledge).criteria["repair"]
    assert mark.score < grade(transcript(SOUND), knowledge).criteria["repair"].score
    assert "not at that place" in mark.why
    bare = [{k: v for k, v in e.items() if k != "finding"} for e in elsewhere]
    assert grade(transcript(bare), knowledge).verifications[0].finding == "below-floor"


def test_a_symptom_between_takes_either_verdict(knowledge):
    for verdict in ("at-floor", "below-floor"):
        events = [FLOOR, {"kind": "verdict", "collective": verdict}]
        card = grade(transcript(events, symptom="inconclusive", truths={"fraction-of-floor": 0.8}), knowledge)
        assert "lies between" in card.criteria["quantify"].why


def test_steps_after_a_fix_bring_no_evidence(knowledge):
    card = grade(transcript([SPLIT, FIX, BISECT]), knowledge)
    assert [s.counted for s in card.steps] == [True, False]
    assert len(card.posteriors) == 2


def test_an_estimate_under_another_assumption_is_right_if_it_is_said(knowledge):
    eight = {**FLOOR, "value": "0.69 s"}
    silent = grade(transcript(swapped(FLOOR, eight)), knowledge).criteria["quantify"].score
    said = (
        grade(transcript(swapped(FLOOR, {**eight, "assuming": "8 NICs a host"})), knowledge).criteria["quantify"].score
    )
    assert silent < 0.6
    assert said == 1


def test_the_first_estimate_counts(knowledge):
    wrong = {**FLOOR, "value": "56 s"}
    first = grade(transcript(swapped(FLOOR, wrong, FLOOR)), knowledge).criteria["quantify"].score
    assert first < grade(transcript(swapped(FLOOR, FLOOR, wrong)), knowledge).criteria["quantify"].score == 1


def test_a_straggler_makes_the_bisection_pointless(knowledge):
    slow = {**SPLIT, "finding": "one-rank-slow-compute"}
    card = grade(
        transcript([FLOOR, slow, {**DIAGNOSE, "causes": ["throttled-rank"]}], cause="throttled-rank"), knowledge
    )
    assert not card.criteria["bisect"].applicable
    assert card.criteria["bisect"].weight == 0


def test_a_microbenchmark_of_another_size_is_a_true_reading_of_the_wrong_thing(knowledge):
    small = {**BISECT, "with": {"size": "small", "placement": "as-job"}}
    mark = grade(transcript(swapped(BISECT, small)), knowledge).criteria["bisect"]
    assert mark.score == 0.25
    assert "wrong thing" in mark.why


def test_digging_before_telling_straggler_from_network_costs(knowledge):
    late = grade(transcript([FLOOR, RATES, SPLIT, BISECT, DIAGNOSE, CLOSE]), knowledge).criteria
    assert late["split"].score == 0.4
    assert late["bisect"].score == 0.4


def test_saying_it_long_after_costs(knowledge):
    late = [e for e in SOUND if e is not NO_STRAGGLER]
    late = swapped(DIAGNOSE, NO_STRAGGLER, DIAGNOSE, events=late)
    mark = grade(transcript(late), knowledge).criteria["rule-outs"]
    assert mark.score < 1
    assert "only after more steps" in mark.why


def test_passive_reads_opened_together_share_their_time(knowledge):
    arrivals = {"kind": "step", "step": "collective-arrivals", "finding": "together"}
    apart = grade(transcript([SPLIT, arrivals]), knowledge).minutes_spent
    together = grade(transcript([SPLIT, {**arrivals, "opened_at_s": 0.0, "at_s": 0.5}]), knowledge)
    shared = transcript([{**SPLIT, "at_s": 20.0, "opened_at_s": 1.0}, {**arrivals, "at_s": 25.0, "opened_at_s": 2.0}])
    assert apart == 7
    assert together.minutes_spent == 7  # shown before it was opened only if asked for while the first was pending
    assert grade(shared, knowledge).minutes_spent == 4


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (
            {"kind": "step", "step": "link-rate", "finding": "x"},
            r"event 0 \(step\): field step: .*did you mean .link-rates",
        ),
        (
            {"kind": "step", "step": "link-rates", "with": {"scope": "some"}},
            r"event 0 \(step\): field with: .*is not offered",
        ),
        (
            {"kind": "step", "step": "link-rates", "finding": "x"},
            r"field with: link-rates is not offered; it is link-rates\[",
        ),
        ({**SPLIT, "finding": "sideways"}, r"event 0 \(step\): field finding: .*known are even"),
        ({"kind": "fix", "fix": "replace-lnk"}, r"event 0 \(fix\): field fix: .*did you mean .replace-link"),
        ({"kind": "prevent", "measures": ["hope"]}, r"event 0 \(prevent\): field measures"),
        ({**FLOOR, "value": "banana"}, r"event 0 \(estimate\): field value: .*5.6 s"),
        ({**FLOOR, "quantity": "weight"}, r"event 0 \(estimate\): field quantity"),
    ],
)
def test_an_unknown_id_is_refused_by_event_and_field(event, says, knowledge):
    with pytest.raises(TranscriptError, match=says):
        grade(transcript([event]), knowledge)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ({"scenario": "other"}, "field scenario"),
        ({"causes": ["gremlins"]}, "field causes"),
        ({"symptom": "odd"}, "field symptom"),
    ],
)
def test_a_head_that_does_not_fit_the_knowledge_is_refused(head, says, knowledge):
    with pytest.raises(TranscriptError, match=says):
        grade(transcript([], **head), knowledge)


def test_the_dimensions_say_what_was_not_observed(knowledge):
    card = grade(transcript([FLOOR]), knowledge)
    assert card.dimensions["reliability"].word == "not observed"
    assert card.dimensions["reliability"].score is None
    assert card.dimensions["correctness"].score is not None
    whole = grade(transcript(SOUND), knowledge)
    assert all(d.score is not None and d.score > 0.85 for d in whole.dimensions.values())


def test_conditions_are_shown_and_change_nothing(knowledge):
    card = grade(transcript(SOUND, conditions={"mode": "guided"}), knowledge)
    assert card.labels == ("conditions",)
    assert card.total == grade(transcript(SOUND), knowledge).total


def test_a_rubric_can_be_compared(knowledge):
    poor = without(FLOOR, LIBRARY)
    even = rubrics.get("even")
    assert grade(transcript(poor), knowledge, even).total != grade(transcript(poor), knowledge).total


def test_grading_leaves_its_arguments_alone(knowledge):
    given = transcript(SOUND)
    kept, before = copy.deepcopy(given), knowledge.model_dump_json()
    grade(given, knowledge)
    assert given == kept
    assert knowledge.model_dump_json() == before


def test_every_reason_is_a_sentence(knowledge):
    for events in (SOUND, [], [SPLIT], [DIAGNOSE], without(VERIFY), [FLOOR, RATES, SPLIT, BISECT]):
        for criterion in grade(transcript(events), knowledge).criteria.values():
            assert criterion.why[0].isupper() or criterion.why[0].isdigit(), criterion.why
            assert criterion.why.endswith("."), criterion.why
