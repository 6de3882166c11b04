"""The left column: incident, scale, estimates, verdict, facts, hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from gpu_worker.symptoms import SYMPTOMS
from practice import markdown, words
from practice.orders import SCALES, estimate_field
from practice.progress import Progress
from practice.workbench.tokens import fresh
from practice.workbench.typed import Typed
from scenarios import brief
from scenarios.format import Estimate, Scenario


@dataclass(frozen=True)
class Before:
    """One line of the symptom."""

    label: str
    before: str
    now: str


def symptom(scenario: Scenario, numbers: Mapping[str, float]) -> list[Before]:
    """The measured symptom, before and now; a line is left out where it was not measured."""
    return [
        Before(label, _say(numbers[before], unit), _say(numbers[now], unit))
        for label, name, unit in SYMPTOMS[scenario.symptom].lines
        if (before := _key(name, "before", numbers)) and (now := _key(name, "now", numbers))
    ]


def _key(name: str, when: str, numbers: Mapping[str, float]) -> str:
    return f"{name}_{when}" if f"{name}_{when}" in numbers else ""


def _say(value: float, unit: str) -> str:
    return brief.say_short(value, unit)


def headline(scenario: Scenario, numbers: Mapping[str, float]) -> str:
    """The incident in a line, with this attempt's own numbers."""
    if "mfu_before" in numbers and "mfu_now" in numbers:
        before, now = (f"{100 * numbers[f'mfu_{when}']:.0f}\u00a0%" for when in ("before", "now"))
        return f"MFU fell from {before} to {now}"
    return scenario.title


def brief_html(scenario: Scenario, numbers: Mapping[str, float]) -> SafeString:
    return markdown.html(brief.fill(scenario.brief, numbers))


@dataclass(frozen=True)
class Cell:
    """One estimate: noted, or a field with what was typed and what is wrong with it."""

    name: str
    scale_label: str
    example: str
    noted: str
    at_s: float | None
    typed: str
    error: str


@dataclass(frozen=True)
class EstimateRow:
    label: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Estimates:
    """`of_a_floor`: whether a collective's floor is among them, or it is other arithmetic that comes first."""

    rows: tuple[EstimateRow, ...]
    of_a_floor: bool
    open: bool
    assuming: str
    assuming_error: str
    error: str
    noted_text: str


def estimates(scenario: Scenario, progress: Progress, typed: Typed, *, closed: bool) -> Estimates:
    """Quantities down, scales across; a value once noted stays as it was typed."""
    typed = typed.of("estimate")
    wanted = {(e.quantity, e.scale): e for e in scenario.estimates}
    quantities = list(dict.fromkeys(e.quantity for e in scenario.estimates))
    rows = tuple(
        EstimateRow(
            words.QUANTITIES.get(quantity, quantity),
            tuple(_cell(wanted.get((quantity, scale)), progress, typed) for scale in SCALES),  # type: ignore[arg-type]
        )
        for quantity in quantities
    )
    noted = len(progress.estimates)
    return Estimates(
        rows,
        of_a_floor="collective-floor" in quantities,
        open=not closed and noted < len(scenario.estimates),
        assuming=typed.value("assuming"),
        assuming_error=typed.error("assuming"),
        error=typed.error(),
        noted_text=f"{noted} of {len(scenario.estimates)} noted" if noted else "",
    )


def _cell(estimate: Estimate | None, progress: Progress, typed: Typed) -> Cell | None:
    if estimate is None:
        return None
    name = estimate_field(estimate.quantity, estimate.scale)
    line = progress.estimates.get((estimate.quantity, estimate.scale))
    return Cell(
        name,
        words.SCALES[estimate.scale],
        EXAMPLES[estimate.kind],
        str(line.body["value"]) if line else "",
        line.at_s if line else None,
        typed.value(name, 64),
        typed.error(name),
    )


EXAMPLES = {"time": "… s", "data": "… GB", "ratio": "… %", "count": "…"}


@dataclass(frozen=True)
class VerdictChoice:
    id: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Verdict:
    choices: tuple[VerdictChoice, ...]
    at_s: float | None
    error: str


def verdict(scenario: Scenario, progress: Progress, typed: Typed) -> Verdict | None:
    """None where no collective is asked about: then there is nothing to hold against a floor."""
    if not any(estimate.quantity == "collective-floor" for estimate in scenario.estimates):
        return None
    given = progress.verdict.body["collective"] if progress.verdict else ""
    choices = tuple(VerdictChoice(id, label, id == given) for id, label in words.VERDICTS.items())
    typed = typed.of("verdict")
    return Verdict(
        choices, progress.verdict.at_s if progress.verdict else None, typed.error() or typed.error("collective")
    )


@dataclass(frozen=True)
class FactLine:
    id: str
    question: str
    answer: SafeString | None
    token: str


def facts(scenario: Scenario, progress: Progress) -> list[FactLine]:
    """Each question; its answer once it was asked."""
    return [
        FactLine(fact.id, fact.question, markdown.html(fact.answer) if fact.id in progress.asked else None, fresh())
        for fact in scenario.facts
    ]


@dataclass(frozen=True)
class HintLine:
    level: int
    text: str
    token: str


def hints(scenario: Scenario, progress: Progress) -> dict[str, Any]:
    """The hints taken, and the next level that may be asked for."""
    taken = sorted({line.body["level"] for line in progress.hints})
    by_level = {hint.level: hint.text for hint in scenario.hints}
    following = next((level for level in sorted(by_level) if level not in taken), None)
    return {
        "taken": [HintLine(level, by_level[level], "") for level in taken if level in by_level],
        "next": None if following is None else HintLine(following, "", fresh()),
    }
