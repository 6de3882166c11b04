"""One attempt under two rubrics: which criterion, hint or cap makes the difference, and that nothing is left over."""

from __future__ import annotations

import pytest

from grader import compare
from grader.compare import change
from grader.scorecard import CriterionScore
from tests.grader.played import SOUND, transcript
from tests.grader.scoring import grade


def mark(score: float, weight: float) -> CriterionScore:
    return CriterionScore(title="", score=score, weight=weight, applicable=True, events=(), why="")


@pytest.fixture
def card(knowledge):
    """A card of which only what is compared is set, each time anew."""
    sound = grade(transcript(SOUND), knowledge)

    def made(marks, *, hint_cost=0.0, cap=None):
        before = sum(score * weight for score, weight in marks.values())
        total = max(0.0, before - hint_cost)
        return sound.model_copy(
            update={
                "criteria": {name: mark(*one) for name, one in marks.items()},
                "before_hints": before,
                "hint_cost": hint_cost,
                "cap": cap,
                "total": total if cap is None else min(total, cap),
            }
        )

    return made


def test_what_each_criterion_adds_is_the_difference_largest_first(card):
    found = change(
        card({"split": (1.0, 0.2), "bisect": (0.5, 0.4), "repair": (1.0, 0.4)}),
        card({"split": (1.0, 0.1), "bisect": (0.5, 0.8), "repair": (1.0, 0.1)}),
    )
    assert found.because == {
        "repair": pytest.approx(-0.3), "bisect": pytest.approx(0.2), "split": pytest.approx(-0.1),
    }  # fmt: skip
    assert list(found.because) == ["repair", "bisect", "split"]
    assert (found.before, found.after) == (pytest.approx(0.8), pytest.approx(0.6))
    assert found.by == pytest.approx(-0.2) == sum(found.because.values())


def test_of_equal_parts_the_first_by_name_comes_first(card):
    found = change(card({"b": (1.0, 0.5), "a": (0.0, 0.5)}), card({"b": (0.5, 0.5), "a": (0.5, 0.5)}))
    assert list(found.because) == ["a", "b"]


def test_a_criterion_that_only_one_rubric_weighs_counts_as_nothing_in_the_other(card):
    found = change(card({"split": (1.0, 1.0)}), card({"audit": (0.25, 1.0)}))
    assert found.because == {"split": -1.0, "audit": 0.25}


def test_dearer_hints_and_a_lower_cap_are_parts_of_their_own(card):
    marks = {"split": (1.0, 1.0)}
    assert change(card(marks), card(marks, hint_cost=0.12)).because == {"hints": pytest.approx(-0.12)}
    assert change(card(marks, cap=0.3), card(marks)).because == {"cap": pytest.approx(0.7)}
    both = change(card(marks, hint_cost=0.1), card(marks, hint_cost=0.2, cap=0.3))
    assert both.because == {"cap": pytest.approx(-0.5), "hints": pytest.approx(-0.1)}


def test_hints_take_no_more_than_there_is(card):
    poor = {"split": (0.1, 1.0)}
    assert change(card(poor), card(poor, hint_cost=0.5)).because == {"hints": pytest.approx(-0.1)}
    assert compare.capped_off(card(poor, hint_cost=0.5)) == 0


def test_a_difference_that_nobody_would_see_is_not_listed(card):
    just = compare.LEAST_SHOWN
    for part, listed in ((just * 0.9, False), (just, True)):
        found = change(card({"split": (0.0, 1.0)}), card({"split": (part, 1.0)}))
        assert ("split" in found.because) is listed


def test_one_attempt_under_one_rubric_differs_in_nothing(knowledge):
    sound = grade(transcript(SOUND), knowledge)
    assert change(sound, sound).because == {}
