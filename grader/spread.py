"""Totals of the bots for each cause: how hard a draw was, by what good and bad habits make of it. Pure, given seeds."""

from __future__ import annotations

from collections.abc import Iterable

from grader import bots
from grader.grade import grade
from grader.knowledge import Knowledge
from grader.rubric import Rubric


def totals_of(knowledge: Knowledge, rubric: Rubric, cause: str, seeds: Iterable[int]) -> tuple[float, ...]:
    """The total of every bot under one cause, once a seed."""
    return tuple(
        grade(bots.play(bot, knowledge, cause, seed), knowledge, rubric).total for seed in seeds for bot in bots.BOTS
    )


def spread(knowledge: Knowledge, rubric: Rubric, seeds: Iterable[int] = range(4)) -> dict[str, tuple[float, ...]]:
    """By cause. Four seeds of seven bots are 28 totals a cause."""
    tried = tuple(seeds)
    return {cause.id: totals_of(knowledge, rubric, cause.id, tried) for cause in knowledge.causes}
