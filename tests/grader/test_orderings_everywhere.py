"""What good interviewers agree on holds for the best transcript of every incident, not for one written search alone.

The bands are those of `test_orderings`: what a word means in points does not depend on the incident.
"""

from __future__ import annotations

from typing import Any

import pytest

from grader.scorecard import Scorecard
from scenarios import library
from tests.grader import goldens
from tests.grader.goldens import Golden
from tests.grader.test_orderings import A_FIFTH, A_LITTLE, A_QUARTER, BOTTOM_THIRD, between

Events = list[dict[str, Any]]
A_TENTH_TO_A_FIFTH = (0.09, A_FIFTH[1])  # 0.093 where many other criteria apply, 0.13 where few do
ARITHMETIC = ("estimate", "verdict")
BESTS = [
    Golden(folder / "best.json") for folder in goldens.folders() if folder.parents[1].name in ("stragglers", "fabric")
]
each = pytest.mark.parametrize("best", BESTS, ids=lambda best: best.of)


def events_of(best: Golden) -> Events:
    return list(goldens.read(best)["events"])


def graded(best: Golden, events: Events) -> Scorecard:
    """The transcript with other events, a few seconds apart."""
    timed = [{**event, "at_s": 10 * (number + 1)} for number, event in enumerate(events)]
    return goldens.graded({**goldens.read(best), "events": timed}, best)


def total(best: Golden, events: Events) -> float:
    return graded(best, events).total


def lost(best: Golden, events: Events) -> float:
    return goldens.card(best).total - total(best, events)


def without(events: Events, *kinds: str) -> Events:
    return [event for event in events if event["kind"] not in kinds]


def at(events: Events, **fields: str) -> int:
    return next(n for n, event in enumerate(events) if fields.items() <= event.items())


def arithmetic_after(events: Events, number: int) -> Events:
    """The floor and the verdict moved behind an event."""
    moved = [event for event in events if event["kind"] in ARITHMETIC]
    return [*without(events[: number + 1], *ARITHMETIC), *moved, *without(events[number + 1 :], *ARITHMETIC)]


def bisected_first(events: Events) -> Events:
    """What belongs to the splitting step and what belongs to the bisection change places."""
    split, bisect = at(events, kind="step", step="per-rank-step-times"), at(events, kind="step", step="microbenchmark")
    first, second = (
        split - (events[split - 1]["kind"] == "predict"),
        bisect - (events[bisect - 1]["kind"] == "predict"),
    )
    end = next(n for n in range(bisect + 1, len(events)) if events[n]["kind"] in ("step", "predict", "diagnose"))
    return [*events[:first], *events[second:end], *events[first:second], *events[end:]]


def struck_out(best: Golden, *, restored: bool) -> Events:
    """The very cause thrown out by the first reading, and taken back after the next one or never."""
    events, causes = events_of(best), goldens.read(best)["causes"]
    first = at(events, kind="step")
    second = first + 1 + at(events[first + 1 :], kind="step")
    wrong = {"kind": "rule_out", "causes": causes, "because": [events[first]["step"]]}
    back = [{"kind": "restore", "causes": causes}] if restored else []
    return [*events[: first + 1], wrong, *events[first + 1 : second + 1], *back, *events[second + 1 :]]


@each
def test_a_floor_that_comes_late_loses_about_a_quarter(best):
    events = events_of(best)
    late = lost(best, arithmetic_after(events, at(events, kind="diagnose") - 1))
    assert between(late, A_QUARTER)
    assert 0 < lost(best, arithmetic_after(events, at(events, kind="step"))) < late


@each
def test_a_complete_search_without_stated_rule_outs_loses_about_a_fifth(best):
    assert between(lost(best, without(events_of(best), "rule_out", "predict")), A_FIFTH)


@each
def test_bisecting_before_splitting_loses_only_a_little(best):
    if any(event.get("step") == "microbenchmark" for event in without(events_of(best), "predict", "verify")):
        assert between(lost(best, bisected_first(events_of(best))), A_LITTLE)


@each
def test_the_wrong_elimination_noticed_and_taken_back_loses_a_tenth_to_a_fifth(best):
    """A fifth where it led the search astray; here nothing follows from it, and right predictions make up for some."""
    assert between(lost(best, struck_out(best, restored=True)), A_TENTH_TO_A_FIFTH)
    assert total(best, struck_out(best, restored=False)) < total(best, struck_out(best, restored=True))


@each
def test_the_same_settled_measurement_thrice_loses_only_efficiency(best):
    events = events_of(best)
    number = at(events, kind="step")
    again = graded(best, [*events[:number], *[events[number]] * 3, *events[number + 1 :]])
    moved = {
        name for name, mark in again.criteria.items() if mark.score < goldens.card(best).criteria[name].score - 1e-9
    }
    assert moved <= {"efficiency"}


@each
def test_two_fixes_at_once_end_below_one(best):
    events = events_of(best)
    number = at(events, kind="fix")
    other = next(fix.id for fix in library.named(best.of).fixes if fix.id == "reboot-switches" or not fix.takes_place)
    both = [*events[: number + 1], {"kind": "fix", "fix": other}, *events[number + 1 :]]
    assert total(best, both) < goldens.card(best).total


@each
def test_physics_claimed_with_no_measurement_ends_in_the_bottom_third(best):
    causes = library.named(best.of).prior
    physics = "comparison-changed" if "comparison-changed" in causes else next(iter(causes))
    claimed = [
        *[event for event in events_of(best) if event["kind"] in ARITHMETIC],
        {"kind": "diagnose", "causes": [physics], "confidence": 0.9, "because": []},
        {"kind": "close"},
    ]
    assert total(best, claimed) <= BOTTOM_THIRD
