"""What is said beside a score: luck by its thresholds, and the five dimensions by theirs."""

from __future__ import annotations

import pytest

from grader.criteria.base import Mark
from grader.criteria.diagnosis import Support
from grader.dimensions import SHOWN_BY, dimensions
from grader.grade import case_of
from grader.labels import Lucky, hint_levels, is_lucky
from grader.scorecard import Dimension
from tests.grader.played import CLOSE, FIX, FLOOR, NO_STRAGGLER, PREVENT, SPLIT, VERDICT, VERIFY, transcript
from tests.grader.scoring import STANDARD, grade


def held(mass, *, top=None, first=0.1, right=True, steps=3):
    return Support(("degraded-link",), mass, mass if top is None else top, first, right, steps)


@pytest.mark.parametrize(
    ("support", "lucky"),
    [
        (held(0.95), False),
        (held(0.95, steps=0), True),
        (held(0.95, right=False, steps=0), False),
        (held(0.2, first=0.1), False),  # doubled
        (held(0.19, first=0.1), True),  # not doubled, and no majority
        (held(0.5, first=0.45), False),  # a majority
        (held(0.49, first=0.45), True),
        (held(0.3, top=0.6), False),  # half of the leading cause's
        (held(0.3, top=0.61), True),
    ],
)
def test_a_right_answer_is_lucky_where_the_evidence_did_not_carry_it(support, lucky):
    assert is_lucky(support, Lucky()) is lucky


def test_a_rubric_says_what_luck_is():
    assert is_lucky(held(0.25, first=0.1), Lucky(doubled=3.0))
    assert not is_lucky(held(0.25, first=0.1), Lucky(doubled=2.5))
    assert not is_lucky(held(0.25, first=0.2), Lucky(majority=0.25))


def case(knowledge, *events):
    return case_of(transcript(list(events)), knowledge, STANDARD)


def test_hints_count_until_the_close_or_the_reveal(knowledge):
    hints = [{"kind": "hint", "level": level} for level in (2, 1, 3)]
    assert hint_levels(case(knowledge, *hints)) == [2, 1, 3]
    assert hint_levels(case(knowledge, hints[0], CLOSE, hints[1])) == [2]
    assert hint_levels(case(knowledge, {"kind": "reveal"}, hints[1])) == []
    said = grade(transcript([hints[0]]), knowledge).label_reasons["hinted"]
    assert (said, grade(transcript(hints), knowledge).label_reasons["hinted"]) == ("1 hint taken.", "3 hints taken.")


@pytest.mark.parametrize(
    ("score", "word"),
    [(1.0, "strong"), (0.85, "strong"), (0.84, "solid"), (0.65, "solid"), (0.64, "mixed"), (0.4, "mixed"),
     (0.39, "weak"), (0.0, "weak")],
)  # fmt: skip
def test_a_dimension_is_a_word_by_its_score(score, word, knowledge):
    found = dimensions(case(knowledge, SPLIT), {"split": Mark(score, "")}, {"measurement": {"split": 1.0}})
    assert found["measurement"] == Dimension(score=score, word=word, criteria=("split",))


def test_a_dimension_is_the_mean_of_what_applies_by_its_shares(knowledge):
    marks = {"split": Mark(1.0, ""), "bisect": Mark(0.5, ""), "confirm": Mark(0.0, "", applicable=False)}
    shares = {"measurement": {"split": 0.3, "bisect": 0.1, "confirm": 0.4, "audit": 0.2}}
    found = dimensions(case(knowledge, SPLIT), marks, shares)["measurement"]
    assert found.score == pytest.approx((0.3 * 1.0 + 0.1 * 0.5) / 0.4)
    assert found.criteria == ("split", "bisect")


def test_a_dimension_that_nothing_could_show_is_not_observed(knowledge):
    marks, shares = {"split": Mark(1.0, "")}, {"measurement": {"split": 1.0}}
    unseen = Dimension(score=None, word="not observed", criteria=("split",))
    assert dimensions(case(knowledge, FLOOR), marks, shares)["measurement"] == unseen
    assert dimensions(case(knowledge, CLOSE, SPLIT), marks, shares)["measurement"] == unseen
    out = {"split": Mark(1.0, "", applicable=False)}
    assert dimensions(case(knowledge, SPLIT), out, shares)["measurement"] == unseen
    nothing = dimensions(case(knowledge, SPLIT), marks, {})["measurement"]
    assert nothing == Dimension(score=None, word="not observed", criteria=())


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (FLOOR, {"correctness"}),
        (VERDICT, {"correctness", "judgment"}),
        (SPLIT, {"trade-offs", "measurement"}),
        (NO_STRAGGLER, {"judgment"}),
        (FIX, {"trade-offs", "reliability"}),
        (VERIFY, {"reliability"}),
        (PREVENT, {"reliability"}),
        ({"kind": "diagnose", "causes": ["degraded-link"]}, {"correctness", "judgment"}),
        ({"kind": "note", "text": "hm"}, set()),
    ],
    ids=lambda one: one["kind"] if isinstance(one, dict) else "",
)
def test_each_kind_of_event_shows_what_it_can(event, shown, knowledge):
    shares = {name: {"split": 1.0} for name in SHOWN_BY}
    found = dimensions(case(knowledge, event), {"split": Mark(1.0, "")}, shares)
    assert {name for name, one in found.items() if one.score is not None} == shown
