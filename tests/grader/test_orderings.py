"""How good interviewers rank ways through the flagship, with what each word means in points.

Totals are of 1. "A little": 0.01–0.08 lost. "About a fifth": 0.15–0.25. "About a quarter": 0.20–0.30. "Near the
bottom": at most 0.20. "Bottom third": at most 0.33. "Upper middle": 0.60–0.85.
"""

from __future__ import annotations

import pytest

from tests.grader import orderings, pinned
from tests.grader.played import BISECT, RATES, SOUND, SPLIT, swapped, transcript
from tests.grader.scoring import grade

A_LITTLE, A_FIFTH, A_QUARTER = (0.01, 0.08), (0.15, 0.25), (0.20, 0.30)
NEAR_THE_BOTTOM, BOTTOM_THIRD, UPPER_MIDDLE = 0.20, 0.33, (0.60, 0.85)


def card(events, **head):
    return grade(transcript(events, **head), pinned.knowledge())


def lost(events) -> float:
    return card(SOUND).total - card(events).total


def between(value, band) -> bool:
    return band[0] <= value <= band[1]


def test_the_sound_search_earns_nearly_all():
    assert card(SOUND).total > 0.97


def test_a_floor_that_comes_late_loses_about_a_quarter():
    assert between(lost(orderings.floor_after_the_search()), A_QUARTER)
    assert 0 < lost(orderings.floor_after_the_first_step()) < lost(orderings.floor_after_the_search())


def test_a_complete_search_without_stated_rule_outs_loses_about_a_fifth():
    assert between(lost(orderings.silent()), A_FIFTH)


def test_bisecting_before_splitting_loses_only_a_little():
    assert between(lost(orderings.bisected_first()), A_LITTLE)


def test_the_wrong_elimination_noticed_and_taken_back_loses_about_a_fifth():
    back, kept = card(orderings.took_back_a_wrong_elimination()), card(orderings.kept_a_wrong_elimination())
    assert between(card(SOUND).total - back.total, A_FIFTH)
    assert kept.total < back.total - 0.15
    assert "took it back. It was the very cause." in back.criteria["rule-outs"].why


def test_a_wrong_elimination_of_another_cause_costs_less_than_that_of_the_cause():
    another = {"kind": "rule_out", "causes": ["fallback-transport"], "because": ["per-rank-step-times"]}
    events = swapped(BISECT, another, {"kind": "restore", "causes": ["fallback-transport"]}, BISECT)
    assert 0 < lost(events) < A_FIFTH[0]


@pytest.mark.parametrize("way", ["units_slip_to_physics", "units_slip_after_a_look"])
def test_a_units_slip_that_leads_to_physics_ends_near_the_bottom(way):
    assert card(orderings.WAYS[way]()).total <= NEAR_THE_BOTTOM


def test_two_fixes_at_once_end_below_one():
    assert lost(orderings.two_fixes_at_once()) >= 0.01


def test_a_guess_disproved_by_verification_then_a_sound_search_ends_in_the_upper_middle():
    found = card(orderings.guessed_first())
    assert between(found.total, UPPER_MIDDLE)
    assert found.verifications[0].held is False
    # The guess did nothing, so what was measured after it is of the same incident.
    assert all(step.counted for step in found.steps)


@pytest.mark.parametrize("again", [SPLIT, BISECT, RATES], ids=lambda step: step["step"])
def test_the_same_settled_measurement_thrice_loses_only_efficiency(again):
    once, thrice = card(SOUND), card(swapped(again, again, again, again))
    changed = {name for name, mark in thrice.criteria.items() if mark.score != once.criteria[name].score}
    assert changed <= {"efficiency"}
    assert thrice.minutes_spent > once.minutes_spent
    assert [step.counted for step in thrice.steps].count(False) == 2


def test_a_dear_measurement_thrice_does_lose_it():
    assert card(swapped(RATES, RATES, RATES, RATES)).criteria["efficiency"].score < 1


@pytest.mark.parametrize("cause", ["degraded-link", "comparison-changed"])
def test_physics_claimed_with_no_measurement_ends_in_the_bottom_third(cause):
    """Even where it was physics: then it is a lucky answer."""
    events = orderings.physics_without_a_measurement()
    symptom = "collective-at-floor" if cause == "comparison-changed" else "collective-below-floor"
    fraction = 0.94 if cause == "comparison-changed" else 0.3
    found = card(events, cause=cause, symptom=symptom, truths={"fraction-of-floor": fraction})
    assert found.total <= BOTTOM_THIRD
    assert ("lucky" in found.labels) == (cause == "comparison-changed")


def test_the_ways_rank_as_interviewers_rank_them():
    ranked = [
        SOUND, orderings.bisected_first(), orderings.guessed_first(), orderings.silent(),
        orderings.kept_a_wrong_elimination(), orderings.physics_without_a_measurement(),
        orderings.units_slip_to_physics(),
    ]  # fmt: skip
    totals = [card(events).total for events in ranked]
    assert totals == sorted(totals, reverse=True)
