"""What a proof is made of: lines with a figure and a verdict, over one scenario and its calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from grader.index import Index, index_of
from grader.knowledge import Knowledge
from scenarios import tables_file
from scenarios.format import Scenario
from scenarios.knowledge import assemble
from scenarios.tables_file import Calibration

# `unknown`: the calibration holds nothing to judge it by. `no question`: the scenario does not raise it.
Verdict = Literal["holds", "fails", "unknown", "no question"]
SOUND: tuple[Verdict, ...] = ("holds", "no question")


@dataclass(frozen=True)
class Line:
    """One claim: what must hold, the figure that it rests on, the verdict, and what to look at where it fails."""

    id: str
    claim: str
    figure: str
    verdict: Verdict
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """Every line about one revision under one calibration."""

    key: str
    revision: int
    table: str
    calibration: str
    lines: tuple[Line, ...]

    @property
    def holds(self) -> bool:
        return all(line.verdict in SOUND for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


@dataclass(frozen=True, eq=False)
class Subject:
    """What is proved: a scenario, its calibration, and both as the grader sees them."""

    scenario: Scenario
    calibration: Calibration
    knowledge: Knowledge
    index: Index


Claim = Callable[[Subject], Line]


def subject_of(scenario: Scenario) -> Subject:
    """Raises BankIncomplete where the scenario's table has no calibration, or one that lacks a step of it."""
    calibration = tables_file.load(scenario.table)
    knowledge = assemble(scenario, calibration)
    return Subject(scenario, calibration, knowledge, index_of(knowledge))


def verdict(holds: bool) -> Verdict:
    return "holds" if holds else "fails"
