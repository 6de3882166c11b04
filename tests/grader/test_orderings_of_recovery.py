"""How ways through an incident of saving and resuming rank: on a small incident, and on the best transcript of each.

The bands are those of `test_orderings`: what a word means in points does not depend on the incident.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from grader.scorecard import Scorecard
from scenarios import rubrics
from tests.grader import goldens, recovery
from tests.grader import test_arithmetic as numbers
from tests.grader.goldens import Golden
from tests.grader.scoring import grade
from tests.grader.test_orderings import A_FIFTH, A_LITTLE, BOTTOM_THIRD, between

Events = list[dict[str, Any]]
ABOUT_A_TENTH = (0.07, 0.13)
RUBRIC = rubrics.for_track("checkpoints")


@dataclass(frozen=True)
class Way:
    """A sound attempt and what grades a change to it."""

    name: str
    events: Events
    graded: Callable[[Events], Scorecard]

    def total(self, events: Events) -> float:
        return self.graded([{**event, "at_s": 10.0 * (n + 1)} for n, event in enumerate(events)]).total

    def lost(self, events: Events) -> float:
        return self.total(self.events) - self.total(events)


def of_golden(golden: Golden) -> Way:
    made = goldens.read(golden)
    return Way(golden.of, made["events"], lambda events: goldens.graded({**made, "events": events}, golden))


def small(events: Events) -> Scorecard:
    return grade(recovery.transcript(events), numbers.KNOWN, RUBRIC)


BESTS = [Golden(folder / "best.json") for folder in goldens.folders() if folder.parents[1].name == "checkpoints"]
WAYS = [
    Way("the-small-incident", [numbers.BYTES, numbers.INTERVAL, *recovery.SOUND], small),
    *(of_golden(best) for best in BESTS),
]
each = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


def without(events: Events, *kinds: str) -> Events:
    return [event for event in events if event["kind"] not in kinds]


def before(events: Events, kind: str, *new: dict[str, Any]) -> Events:
    place = next(number for number, event in enumerate(events) if event["kind"] == kind)
    return [*events[:place], *new, *events[place:]]


def estimates(way: Way) -> Events:
    return [event for event in way.events if event["kind"] == "estimate"]


@each
def test_the_best_earns_nearly_all(way):
    assert way.total(way.events) >= 0.93


@each
def test_numbers_after_the_search_lose_about_a_tenth_and_as_much_as_none(way):
    late = way.lost(before(without(way.events, "estimate"), "diagnose", *estimates(way)))
    assert between(late, ABOUT_A_TENTH)
    assert way.lost(without(way.events, "estimate")) == pytest.approx(late)


@each
def test_no_replay_of_the_repair_loses_a_tenth_to_a_fifth(way):
    """The replay, its tolerance, and the loss that the repair was not held against; a replay before it keeps a part."""
    assert between(way.lost(without(way.events, "verify")), (0.10, A_FIFTH[1]))


@each
def test_a_tolerance_after_the_replay_loses_only_a_little(way):
    late = [*without(way.events, "success", "close"), {"kind": "success", "metric": "loss-difference",
            "threshold": "0.001 %"}, {"kind": "close"}]  # fmt: skip
    assert between(way.lost(late), A_LITTLE)


@each
def test_a_search_that_says_nothing_it_excludes_loses_a_tenth_to_a_fifth(way):
    assert between(way.lost(without(way.events, "rule_out", "predict")), (0.10, A_FIFTH[1]))


@each
def test_a_name_with_no_reading_behind_it_ends_in_the_bottom_third(way):
    guessed = [event for event in way.events if event["kind"] in ("estimate", "diagnose", "success", "fix", "verify")]
    assert way.total([*guessed, {"kind": "close"}]) <= BOTTOM_THIRD
