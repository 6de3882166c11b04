"""What all closed attempts of one person say: by criterion, the level, how confidence fits, what to practise next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from pydantic import ValidationError

from gpu_worker import figures
from grader.history import Brier, LevelSignal, brier, half_width, level_signal
from grader.scorecard import CriterionScore
from grader.scorecard import Scorecard as Graded
from practice.drills import scopes
from practice.models import Attempt, Person, Scorecard

log = logging.getLogger(__name__)

# Of all that was ever closed, the latest: older attempts say little of today, and reading them all costs.
LATEST = 200
FOR_THE_FIRST_PAGE = 10
LATELY = 5
LEAST_FOR_WEAKEST = 2
FOR_A_TREND = 3
CHANGE = 0.1
# What there is to practise by questions alone.
DRILLED = {
    "quantify": "concept:floor",
    "split": "concept:split",
    "bisect": "concept:bisect",
    "rule-outs": "concept:rule-out",
    "confirm": "concept:confirm",
    "repair": "concept:repair",
    "prevention": "concept:prevent",
}


@dataclass(frozen=True)
class CriterionLine:
    """One criterion over the attempts that it applied to. `low` and `high`: where the mean lies with 90 % certainty,
    from two attempts on."""

    id: str
    title: str
    scores: tuple[float, ...]
    weight: float
    low: float | None
    high: float | None

    @property
    def mean(self) -> float:
        return fmean(self.scores)

    @property
    def lately(self) -> float:
        return fmean(self.scores[-LATELY:])

    @property
    def trend(self) -> str:
        """Of the last five against those before; nothing while one of them is too few to tell."""
        earlier = self.scores[:-LATELY]
        if len(earlier) < FOR_A_TREND:
            return ""
        change = self.lately - fmean(earlier)
        return "better" if change > CHANGE else "worse" if change < -CHANGE else "steady"


@dataclass(frozen=True)
class Weakest:
    """The criterion that costs most, and the questions that practise it; `scope` is empty where only incidents do."""

    title: str
    mean: float
    attempts: int
    scope: str


@dataclass(frozen=True)
class Record:
    attempts: int
    lines: tuple[CriterionLine, ...]
    weakest: Weakest | None
    level: LevelSignal
    brier: Brier
    figure: dict[str, Any]


def record(person: Person | None) -> Record:
    """Everything on the page of one's own progress."""
    cards = _cards(person, LATEST)
    lines = tuple(_lines(cards))
    return Record(len(cards), lines, _weakest(lines), level_signal(cards), brier(cards), _figure(lines))


def weakest(person: Person | None) -> Weakest | None:
    """What to practise next, by the latest attempts alone; None before two of them told."""
    return _weakest(tuple(_lines(_cards(person, FOR_THE_FIRST_PAGE))))


def _cards(person: Person | None, latest: int) -> list[Graded]:
    """The oldest first. A scorecard that this release cannot read is left out, and the log says so."""
    mine = Attempt.objects.of(person).closed().order_by("-closed_at")[:latest]
    found: list[Graded] = []
    for row in reversed(Scorecard.objects.filter(attempt__in=list(mine)).order_by("-attempt__closed_at")):
        try:
            found.append(Graded.model_validate(row.body))
        except ValidationError as broken:
            log.warning("the scorecard of attempt %s is left out: %s", row.pk, broken)
    return found


def _lines(cards: Sequence[Graded]) -> Iterable[CriterionLine]:
    """Criteria in the order in which scorecards have them."""
    marks: dict[str, list[CriterionScore]] = {}
    for card in cards:
        for id, mark in card.criteria.items():
            if mark.applicable:
                marks.setdefault(id, []).append(mark)
    for id, of in marks.items():
        scores = tuple(mark.score for mark in of)
        half = half_width(np.array(scores)) if len(scores) > 1 else None
        low, high = (None, None) if half is None else (max(0.0, fmean(scores) - half), min(1.0, fmean(scores) + half))
        yield CriterionLine(id, of[-1].title, scores, fmean(mark.weight for mark in of), low, high)


def _weakest(lines: Sequence[CriterionLine]) -> Weakest | None:
    """By what it cost lately: what lacks to full marks, times its weight."""
    told = [line for line in lines if len(line.scores) >= LEAST_FOR_WEAKEST and line.lately < 1]
    worst = max(told, key=lambda line: line.weight * (1 - line.lately), default=None)
    if worst is None:
        return None
    scope = DRILLED.get(worst.id, "")
    return Weakest(worst.title, worst.lately, len(worst.scores), scope if scope in scopes.SCOPES else "")


def _figure(lines: Sequence[CriterionLine]) -> dict[str, Any]:
    """A row a criterion: each attempt a dot, the last five stronger, their mean a stroke."""
    if not lines:
        return {}
    titles = [line.title for line in lines]
    earlier = [(line.title, score) for line in lines for score in line.scores[:-LATELY]]
    late = [(line.title, score) for line in lines for score in line.scores[-LATELY:]]
    traces = [
        figures.dots(name, role, [t for t, _ in points], [s for _, s in points], [f"{t}: {s:.2f}" for t, s in points])
        for name, role, points in (("earlier attempts", "ink-3", earlier), ("the last five", "c1", late))
        if points
    ]
    said = [f"{line.title}: mean of the last five {line.lately:.2f}" for line in lines]
    return figures.frame(
        [*traces, figures.ticks("mean of the last five", titles, [line.lately for line in lines], said)],
        alt="Marks by criterion, attempt by attempt, with the mean of the last five",
        rows=len(lines),
        x=figures.numbers("mark", low=-0.05, high=1.05),
        y=figures.names(titles),
    )
