"""The board of causes: what still stands, what was struck out and by which evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpu_worker.probes import PROBES
from practice import words
from practice.orders import families
from practice.progress import Progress, Struck
from practice.workbench.tokens import fresh
from practice.workbench.typed import Typed
from scenarios.causes import CAUSES
from scenarios.format import Scenario


@dataclass(frozen=True)
class StruckBy:
    by: str
    at_s: float


@dataclass(frozen=True)
class CauseLine:
    id: str
    title: str
    description: str
    struck: StruckBy | None
    suspected: bool
    token: str


@dataclass(frozen=True)
class Family:
    id: str
    title: str
    causes: tuple[CauseLine, ...]


@dataclass(frozen=True)
class Board:
    families: tuple[Family, ...]
    standing: int
    total: int
    error: str


def board(scenario: Scenario, progress: Progress, typed: Typed) -> Board:
    """Every cause of the scenario by family, in the file's order."""
    listed = tuple(
        Family(family, words.FAMILIES[family], tuple(_line(cause, progress) for cause in causes))
        for family, causes in families(scenario).items()
    )
    total = len(scenario.causes)
    return Board(listed, total - len(progress.struck), total, " ".join(typed.of("hypothesis").slips.values()))


def _line(cause: str, progress: Progress) -> CauseLine:
    about, struck = CAUSES[cause], progress.struck.get(cause)
    by = StruckBy(", ".join(cited(struck, progress)) or "no evidence cited", struck.at_s) if struck else None
    return CauseLine(cause, about.title, about.description, by, cause in progress.hypotheses, fresh())


def cited(struck: Struck, progress: Progress) -> list[str]:
    """The titles of the steps that a strike rests on."""
    return titles_of(struck.because, progress)


def titles_of(because: Iterable[object], progress: Progress) -> list[str]:
    by_index = {line.index: line for line in [*progress.steps, *progress.verifications]}
    lines = (by_index.get(index) for index in because if isinstance(index, int))
    return list(dict.fromkeys(step_title(line.body["step"]) for line in lines if line))


def step_title(step: str) -> str:
    return PROBES[step].title if step in PROBES else step


def standing(scenario: Scenario, progress: Progress) -> tuple[Family, ...]:
    """The families with what still stands in them."""
    left = (
        Family(family.id, family.title, tuple(cause for cause in family.causes if cause.struck is None))
        for family in board(scenario, progress, Typed()).families
    )
    return tuple(family for family in left if family.causes)
