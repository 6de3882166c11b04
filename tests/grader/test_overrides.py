"""A person's marks beside the machine's, which are never lost."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from grader.overrides import CapLifted, Override, OverrideError, with_overrides
from grader.scorecard import Scorecard
from tests.grader.played import DIAGNOSE, FIX, FLOOR, SOUND, SPLIT, SUCCESS, VERDICT, VERIFY, transcript, without
from tests.grader.scoring import grade


def said(criterion: str, score: float, reason: str = "Said aloud, not typed.") -> Override:
    return Override(criterion=criterion, score=score, reason=reason, by="ivan")


@pytest.fixture
def card(knowledge) -> Scorecard:
    return grade(transcript(without(FLOOR)), knowledge)


@pytest.fixture
def lucky(knowledge) -> Scorecard:
    return grade(transcript([FLOOR, VERDICT, DIAGNOSE, SUCCESS, FIX, VERIFY]), knowledge)


def test_both_marks_and_both_totals_stand_side_by_side(card):
    found = with_overrides(card, [said("quantify", 0.8)])
    mark = found.marks["quantify"]
    assert (mark.machine, mark.score, mark.overrides[0].reason) == (0.0, 0.8, "Said aloud, not typed.")
    assert found.machine == card
    assert found.machine_total == card.total
    assert found.total == pytest.approx(card.total + 0.8 * card.criteria["quantify"].weight)


def test_without_an_override_the_totals_agree(card):
    assert with_overrides(card, []).total == pytest.approx(card.total)


def test_a_later_override_counts_and_the_earlier_is_kept(card):
    found = with_overrides(card, [said("quantify", 0.2), said("quantify", 1.0, "Heard it on the recording.")])
    assert found.marks["quantify"].score == 1.0
    assert [one.score for one in found.marks["quantify"].overrides] == [0.2, 1.0]


@pytest.mark.parametrize("reason", ["", "   \n"])
def test_a_reason_is_required(reason):
    with pytest.raises(ValidationError, match="reason"):
        said("quantify", 0.5, reason)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_a_mark_lies_between_nothing_and_one(score):
    with pytest.raises(ValidationError, match="score"):
        said("quantify", score)


def test_a_criterion_that_is_not_on_the_card_is_refused_by_name(card):
    with pytest.raises(OverrideError, match=r'"charm" is not on this scorecard; it holds quantify'):
        with_overrides(card, [said("charm", 1.0)])


def test_marking_what_did_not_apply_makes_it_apply(knowledge):
    slow = {**SPLIT, "finding": "one-rank-slow-compute"}
    card = grade(transcript([FLOOR, slow], cause="throttled-rank"), knowledge)
    assert not card.criteria["bisect"].applicable
    found = with_overrides(card, [said("bisect", 1.0)])
    assert sum(mark.weight for mark in found.marks.values()) == pytest.approx(1)
    assert found.marks["bisect"].weight == pytest.approx(0.10)
    assert found.marks["bisect"].applicable is False


def test_hints_cost_what_they_cost(knowledge):
    hinted = grade(transcript([{"kind": "hint", "level": 3}, *SOUND]), knowledge)
    assert with_overrides(hinted, [said("quantify", 0.0)]).total == pytest.approx(1 - 0.22 - 0.12)


def test_a_lucky_answer_stays_capped_until_the_cap_is_lifted_with_a_reason(lucky):
    marks = [said("rule-outs", 1.0), said("split", 1.0), said("bisect", 1.0)]
    assert with_overrides(lucky, marks).total == lucky.cap == 0.30
    lifted = CapLifted(reason="Talked the readings through on the whiteboard.", by="ivan")
    free = with_overrides(lucky, marks, lifted)
    assert free.total > 0.5
    assert free.cap_lifted == lifted
    with pytest.raises(ValidationError, match="reason"):
        CapLifted(reason=" ", by="ivan")


def test_a_scorecard_kept_before_these_fields_still_reads(card):
    newer = ("track", "rubric_revision", "cap", "alerts", "diagnosis", "ignored")
    body = {name: value for name, value in card.model_dump(mode="json").items() if name not in newer}
    body["criteria"] = {
        name: {field: v for field, v in mark.items() if field != "rubric_weight"}
        for name, mark in body["criteria"].items()
    }
    old = Scorecard.model_validate(body)
    assert old.rubric_revision == 1
    assert with_overrides(old, [said("quantify", 1.0)]).total > old.total


def test_what_an_old_scorecard_does_not_weigh_is_refused(knowledge):
    slow = {**SPLIT, "finding": "one-rank-slow-compute"}
    card = grade(transcript([FLOOR, slow], cause="throttled-rank"), knowledge)
    bisect = card.criteria["bisect"].model_copy(update={"rubric_weight": None})
    old = card.model_copy(update={"criteria": {**card.criteria, "bisect": bisect}})
    with pytest.raises(OverrideError, match="too old to say what it weighs"):
        with_overrides(old, [said("bisect", 1.0)])


def test_the_result_is_data(card):
    found = with_overrides(card, [said("quantify", 1.0)])
    assert type(found).model_validate_json(found.model_dump_json()) == found


def shown(card: Scorecard, *, hint_cost: float = 0.0, cap: float | None = None, **marks: tuple) -> Scorecard:
    """A card of these marks alone: (score, weight, applicable, weight by the rubric)."""
    criteria = {
        name: card.criteria["quantify"].model_copy(
            update={"score": score, "weight": weight, "applicable": applicable, "rubric_weight": by_rubric}
        )
        for name, (score, weight, applicable, by_rubric) in marks.items()
    }
    return card.model_copy(update={"criteria": criteria, "hint_cost": hint_cost, "cap": cap})


def test_every_mark_says_what_the_machine_gave_and_what_counts(card):
    plain = shown(card, split=(0.5, 0.6, True, 0.3), repair=(1.0, 0.4, True, 0.2))
    found = with_overrides(plain, [said("split", 0.75)])
    assert found.total == pytest.approx(0.75 * 0.6 + 0.4)
    split, repair = found.marks["split"], found.marks["repair"]
    assert (split.machine, split.score, split.weight, split.applicable) == (0.5, 0.75, 0.6, True)
    assert (repair.machine, repair.score, repair.weight, repair.overrides) == (1.0, 1.0, 0.4, ())
    assert found.cap_lifted is None


def test_a_criterion_that_is_made_to_apply_takes_its_share_by_the_rubric(card):
    """Weights by the rubric 0.3 and 0.2, and 0.1 for the one that did not apply; one that stays out weighs nothing."""
    partly = shown(
        card, split=(1.0, 0.6, True, 0.3), repair=(0.0, 0.4, True, 0.2), bisect=(0.0, 0.0, False, 0.1),
        audit=(0.0, 0.0, False, 0.4),
    )  # fmt: skip
    found = with_overrides(partly, [said("bisect", 0.5)])
    weights = {name: mark.weight for name, mark in found.marks.items()}
    assert weights == {name: pytest.approx(w) for name, w in zip(weights, (0.5, 1 / 3, 1 / 6, 0.0), strict=True)}
    assert found.total == pytest.approx(0.5 + 0.5 / 6)


def test_an_old_card_shares_by_the_weights_that_it_holds(card):
    old = shown(card, split=(1.0, 0.75, True, None), bisect=(0.0, 0.0, False, 0.25))
    found = with_overrides(old, [said("bisect", 1.0)])
    assert [mark.weight for mark in found.marks.values()] == [pytest.approx(0.75), pytest.approx(0.25)]


def test_where_nothing_weighs_anything_the_total_is_nothing(card):
    empty = shown(card, bisect=(0.0, 0.0, False, 0.0))
    assert with_overrides(empty, [said("bisect", 1.0)]).total == 0.0


def test_hints_take_no_more_than_there_is_and_the_cap_holds_what_is_left(card):
    dear = shown(card, hint_cost=0.5, split=(0.25, 1.0, True, 1.0))
    assert with_overrides(dear, []).total == 0.0
    assert with_overrides(dear, [said("split", 0.75)]).total == 0.25
    capped = shown(card, cap=0.3, split=(0.25, 1.0, True, 1.0))
    assert with_overrides(capped, []).total == 0.25
    assert with_overrides(capped, [said("split", 0.75)]).total == 0.3


def test_refusals_are_whole_sentences(card):
    known = ", ".join(card.criteria)
    with pytest.raises(OverrideError, match=rf'^"charm" is not on this scorecard; it holds {known}$'):
        with_overrides(card, [said("charm", 1.0)])
    old = shown(card, bisect=(0.0, 0.0, False, None), split=(1.0, 1.0, True, None))
    sentence = r'^"bisect" did not apply, and this scorecard is too old to say what it weighs; mark another$'
    with pytest.raises(OverrideError, match=sentence):
        with_overrides(old, [said("bisect", 1.0)])
    assert with_overrides(old, [said("split", 0.5)]).total == 0.5
