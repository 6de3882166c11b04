"""What many scorecards of one person say: level, calibration, standing. Pure, and silent below what it takes to know.

Every answer says on how many attempts it rests, and is None, with the reason, where these are too few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from scipy.special import stdtrit

from grader.criteria import CRITERIA
from grader.scorecard import Scorecard

PRACTICE_ONLY = "practice only"
LEAST_ATTEMPTS, LEAST_TRACKS = 8, 3
INTERVAL = 0.90
LEAST_FOR_BRIER = 20
LEAST_OF_BOTS = 20
# From these totals on an answer reads as one of that level. Below the first nothing is said.
LEVELS = (("mid", 0.40), ("senior", 0.60), ("staff", 0.80))
LEVEL_WIDTH = 0.20
NEXT_STEPS = 3


@dataclass(frozen=True)
class LevelSignal:
    """The level of a mean total with its interval. `next_level`: what an answer of the next would have done, the
    weightiest first; empty at the last. Always marked as practice only."""

    level: str | None
    why: str
    attempts: int
    tracks: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    next_level: tuple[str, ...] = ()
    marked: str = PRACTICE_ONLY


@dataclass(frozen=True)
class Brier:
    """Mean squared difference of stated confidence and having been right: 0 best, 0.25 what always saying 50 % gives.

    `surer_by`: mean confidence less the share that was right; above 0 surer than right.
    """

    score: float | None
    why: str
    attempts: int
    surer_by: float | None = None


@dataclass(frozen=True)
class Standing:
    """A total among those of the bots for the same cause. `percentile`: share below it, ties counted half."""

    percentile: float | None
    why: str
    bots: int
    median: float | None = None


def level_signal(cards: Sequence[Scorecard]) -> LevelSignal:
    """The level that these attempts speak for: from 8 over 3 tracks, and an interval narrower than a level."""
    totals, tracks = np.array([card.total for card in cards]), {card.track for card in cards if card.track}
    told = LevelSignal(None, "", len(cards), len(tracks))
    if len(cards) < LEAST_ATTEMPTS or len(tracks) < LEAST_TRACKS:
        needed = f"{LEAST_ATTEMPTS} attempts over {LEAST_TRACKS} tracks"
        had = f"{_counted(len(cards), 'attempt')} over {_counted(len(tracks), 'track')}"
        return replace(told, why=f"A level needs {needed}; there {'is' if len(cards) == 1 else 'are'} {had}.")
    mean, half = float(totals.mean()), half_width(totals)
    told = replace(told, mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half))
    if 2 * half >= LEVEL_WIDTH:
        between = f"{told.low:.2f} to {told.high:.2f}"
        return replace(told, why=f"The interval, {between}, is wider than a level; more attempts narrow it.")
    return _level_of(told, mean, cards)


def _level_of(told: LevelSignal, mean: float, cards: Sequence[Scorecard]) -> LevelSignal:
    reached = [number for number, (_, least) in enumerate(LEVELS) if mean >= least]
    if not reached:
        first, least = LEVELS[0]
        why = f"The mean, {mean:.2f}, lies below where {first} begins, {least:.2f}."
        return replace(told, why=why, next_level=next_steps(cards, 0))
    level, least = LEVELS[reached[-1]]
    why = f"The mean of {len(cards)} attempts is {mean:.2f}; {level} begins at {least:.2f}."
    return replace(told, level=level, why=why, next_level=next_steps(cards, reached[-1] + 1))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def half_width(totals: np.ndarray) -> float:
    """Half of the interval of the mean by Student's t; totals (attempts,), at least two."""
    spread = float(totals.std(ddof=1)) / math.sqrt(len(totals))
    return float(stdtrit(len(totals) - 1, 0.5 + INTERVAL / 2)) * spread


def next_steps(cards: Sequence[Scorecard], level: int) -> tuple[str, ...]:
    """What an answer of that level would have done, by the criteria that cost these attempts most of what it wants."""
    if level >= len(LEVELS):
        return ()
    wanted = min(1.0, LEVELS[level][1] + LEVEL_WIDTH / 2)
    lost: dict[str, float] = {}
    for card in cards:
        for name, mark in card.criteria.items():
            if mark.applicable and name in CRITERIA:
                lost[name] = lost.get(name, 0.0) + mark.weight * max(0.0, wanted - mark.score)
    worst = sorted((name for name in lost if lost[name] > 0), key=lambda name: (-lost[name], name))
    return tuple(CRITERIA[name].better for name in worst[:NEXT_STEPS])


def brier(cards: Sequence[Scorecard]) -> Brier:
    """Over the attempts whose diagnosis stated a confidence and whose cause is known; from 20 on."""
    said = [
        (one.confidence, float(one.right))
        for card in cards
        if (one := card.diagnosis) is not None and one.confidence is not None and one.right is not None
    ]
    return brier_of(said, "diagnoses")


def brier_of(said: Sequence[tuple[float, float]], what: str) -> Brier:
    """Over pairs of a stated confidence (0 to 1) and having been right (0 or 1), `what` they are; from 20 on."""
    if len(said) < LEAST_FOR_BRIER:
        return Brier(None, f"It needs {LEAST_FOR_BRIER} {what} with a confidence; {len(said)} so far.", len(said))
    surer_by = fmean(confidence - right for confidence, right in said)
    score = fmean((confidence - right) ** 2 for confidence, right in said)
    return Brier(score, f"Over {len(said)} {what} with a confidence.", len(said), surer_by)


def standing(card: Scorecard, bots: Mapping[str, Sequence[float]]) -> Standing:
    """Where a total lies among the bots' for its cause, so that a hard draw is not held against anybody.

    `bots`: totals by cause (`grader.spread`). Two hidden causes have no spread of their own.
    """
    totals = sorted(bots.get(card.causes[0], ())) if len(card.causes) == 1 else []
    if len(totals) < LEAST_OF_BOTS:
        return Standing(
            None, f"It needs {LEAST_OF_BOTS} totals of bots for this cause; {len(totals)} are known.", len(totals)
        )
    below = sum(total < card.total for total in totals) + sum(total == card.total for total in totals) / 2
    median = float(np.median(totals))
    return Standing(
        below / len(totals), f"Among {len(totals)} searches by bots for the same cause.", len(totals), median
    )
