"""Ways through the flagship that good interviewers rank alike, as changes to one sound search."""

from __future__ import annotations

from typing import Any

from tests.grader.played import (
    A_LINK,
    BISECT,
    CLOSE,
    DIAGNOSE,
    FIX,
    FLOOR,
    FRACTION,
    PREVENT,
    RATES,
    SOUND,
    SPLIT,
    SUCCESS,
    VERDICT,
    VERIFY,
    swapped,
    without,
)

Events = list[dict[str, Any]]
ARITHMETIC = (FLOOR, FRACTION, VERDICT)
SUSPECTS = {"kind": "step", "step": "link-rates", "with": {"scope": "suspects"}, "finding": "nominal"}
PLACEMENT = {"kind": "step", "step": "placement-map", "finding": "as-before"}
OVERLAP = {"kind": "step", "step": "overlap-trace", "finding": "overlapped"}
STRUCK_THE_LINK = {"kind": "rule_out", "causes": ["degraded-link"], "because": ["link-rates[scope=suspects]"]}
TOOK_IT_BACK = {"kind": "restore", "causes": ["degraded-link"]}
GUESS = {"kind": "diagnose", "causes": ["worse-placement"], "confidence": 0.8, "because": []}
GUESSED_FIX = {"kind": "fix", "fix": "restore-placement"}
IT_DID_NOT = {**VERIFY, "finding": "below-floor"}
# 140 GB · 2 · 8 bits over 400 Gb/s, of which one eight is forgotten: bytes taken for bits the other way round.
SLIPPED_FLOOR = {**FLOOR, "value": "44.8 s"}
AT_FLOOR = {"kind": "verdict", "collective": "at-floor"}
PHYSICS = {"kind": "diagnose", "causes": ["comparison-changed"], "confidence": 0.9, "because": []}
ACCEPT = {"kind": "fix", "fix": "accept-physics"}


def floor_after_the_search() -> Events:
    return swapped(DIAGNOSE, *ARITHMETIC, DIAGNOSE, events=without(*ARITHMETIC))


def floor_after_the_first_step() -> Events:
    return swapped(SPLIT, SPLIT, *ARITHMETIC, events=without(*ARITHMETIC))


def no_floor() -> Events:
    return without(*ARITHMETIC)


def silent() -> Events:
    """The same search, and not a word about what it rules out."""
    return [event for event in SOUND if event["kind"] != "rule_out"]


def bisected_first() -> Events:
    return swapped(SPLIT, BISECT, SPLIT, events=without(BISECT))


def took_back_a_wrong_elimination() -> Events:
    """The hosts' own links are nominal, so it cannot be a link; two readings later they look at the uplinks too."""
    detour = (SUSPECTS, STRUCK_THE_LINK, PLACEMENT, OVERLAP, TOOK_IT_BACK)
    return swapped(RATES, *detour, RATES)


def kept_a_wrong_elimination() -> Events:
    """The same detour, and the wrong cause named for want of the right one."""
    kept = [event for event in took_back_a_wrong_elimination() if event not in (TOOK_IT_BACK, RATES, A_LINK)]
    wrong = {**DIAGNOSE, "causes": ["fallback-transport"], "where": None}
    return swapped(DIAGNOSE, wrong, events=swapped(FIX, {"kind": "fix", "fix": "restore-transport"}, events=kept))


def units_slip_to_physics() -> Events:
    return [SLIPPED_FLOOR, AT_FLOOR, PHYSICS, ACCEPT, PREVENT, CLOSE]


def units_slip_after_a_look() -> Events:
    return [SLIPPED_FLOOR, AT_FLOOR, SPLIT, PHYSICS, ACCEPT, CLOSE]


def two_fixes_at_once() -> Events:
    return swapped(FIX, {"kind": "fix", "fix": "restore-placement"}, FIX)


def guessed_first() -> Events:
    """A guess repaired and disproved by measurement; then the sound search, from the floor on."""
    return [GUESS, SUCCESS, GUESSED_FIX, IT_DID_NOT, *without(SUCCESS)]


def measured_thrice() -> Events:
    return swapped(SPLIT, SPLIT, SPLIT, SPLIT)


def physics_without_a_measurement() -> Events:
    return [FLOOR, FRACTION, AT_FLOOR, PHYSICS, SUCCESS, ACCEPT, CLOSE]


WAYS = {
    way.__name__: way
    for way in (
        floor_after_the_first_step, floor_after_the_search, no_floor, silent, bisected_first,
        took_back_a_wrong_elimination, kept_a_wrong_elimination, units_slip_to_physics, units_slip_after_a_look,
        two_fixes_at_once, guessed_first, measured_thrice, physics_without_a_measurement,
    )
}  # fmt: skip
