"""All that the pages of an attempt show, built once a request. No part of the draw is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString

from gpu_worker.models import Evidence
from gpu_worker.serving import queue
from practice import draws, steps, words
from practice.models import Attempt
from practice.orders import families
from practice.progress import Progress, fold
from practice.workbench import board, brief, cards, coach, conclusion, palette
from practice.workbench.cards import Card
from practice.workbench.tokens import fresh
from practice.workbench.typed import Typed
from scenarios.format import Scenario
from scenarios.palette import STEPS
from scenarios.scale import ScaleView, scale_view


@dataclass(frozen=True)
class Clock:
    """Priced minutes of the cluster beside the candidate's own seconds."""

    spent_min: float
    budget_min: float
    active_s: float

    @property
    def over(self) -> bool:
        return self.spent_min > self.budget_min


@dataclass(frozen=True)
class NoteLine:
    at_s: float
    text: str


@dataclass(frozen=True)
class Bench:
    """The state of one attempt, ready to show. Cards are made when they are asked for: each reads a whole run."""

    id: UUID
    title: str
    track: str
    scenario: Scenario
    progress: Progress
    closed: bool
    here: str
    clock: Clock
    headline: str
    brief_html: SafeString
    symptom: list[brief.Before]
    scale: ScaleView
    estimates: brief.Estimates
    verdict: brief.Verdict | None
    facts: list[brief.FactLine]
    hints: dict[str, Any]
    palette: palette.Palette
    rows: list[Evidence]
    make_card: Callable[[Evidence], Card]
    board: board.Board
    notes: dict[str, Any]
    pending: int
    form_error: str
    coach: coach.Coach | None
    conclusion: dict[str, Any]

    @cached_property
    def cards(self) -> list[Card]:
        """A card for each evidence of this page, the newest first."""
        return [self.make_card(row) for row in reversed(self.rows)]

    def card(self, id: UUID) -> Card | None:
        """The card of one evidence; None where it is not on this page."""
        return next((self.make_card(row) for row in self.rows if row.pk == id), None)

    @property
    def token(self) -> str:
        """A new one each time a template asks: no two forms share one."""
        return fresh()

    @property
    def after_fix(self) -> bool:
        return bool(self.progress.fixes)

    @property
    def goto_label(self) -> str:
        return "Name the cause" if self.progress.diagnosis is None else "To the conclusion"


def bench(attempt: Attempt, *, now: datetime, typed: Typed | None = None, here: str = "search") -> Bench:
    """Read the attempt's log and evidence, and lay them out. What is ready must have been settled before."""
    typed = typed or Typed()
    scenario = draws.scenario_of(attempt)
    progress = fold(attempt.events.all(), families(scenario))
    everything = steps.of_attempt(attempt)
    rows = [row for row in everything if _belongs(row, here)]
    known = progress.evidence_lines()
    pending = sum(str(row.pk) not in known for row in everything)
    closed = attempt.is_closed
    return Bench(
        id=attempt.pk,
        title=scenario.title,
        track=words.TRACKS.get(scenario.track, scenario.track),
        scenario=scenario,
        progress=progress,
        closed=closed,
        here=here,
        clock=clock(attempt, scenario, progress, everything, now),
        headline=brief.headline(scenario, attempt.symptom),
        brief_html=brief.brief_html(scenario, attempt.symptom),
        symptom=brief.symptom(scenario, attempt.symptom),
        scale=scale_view(scenario),
        estimates=brief.estimates(scenario, progress, typed, closed=closed),
        verdict=brief.verdict(scenario, progress, typed),
        facts=brief.facts(scenario, progress),
        hints=brief.hints(scenario, progress),
        palette=palette.palette(
            scenario, progress, pending, typed, locked=closed or bool(progress.fixes), live=queue.live_enabled(now)
        ),
        rows=[row for row in rows if not closed or str(row.pk) in known],
        make_card=lambda row: cards.card(row, known.get(str(row.pk)), scenario, progress, typed, now=now),
        board=board.board(scenario, progress, typed),
        notes=notes(progress, typed),
        pending=0 if closed else pending,
        form_error=form_error(typed),
        coach=coach.coach(scenario, progress, here=here, closed=closed),
        conclusion=conclude(scenario, progress, pending, typed) if here == "conclusion" else {},
    )


def conclude(scenario: Scenario, progress: Progress, pending: int, typed: Typed) -> dict[str, Any]:
    """The parts that only the conclusion's page shows."""
    return {
        "diagnosis": conclusion.diagnosis(scenario, progress, typed),
        "success": conclusion.success(progress, typed),
        "fixes": conclusion.fixes(scenario, progress, typed),
        "verify": conclusion.verify(scenario, progress, pending, typed),
        "prevention": conclusion.prevention(scenario, progress, typed),
        "stages": conclusion.stages(progress),
    }


def _belongs(row: Evidence, here: str) -> bool:
    """Verifications stand on the conclusion's page, all else on the search's."""
    return (row.purpose == "verify") == (here == "conclusion")


def clock(attempt: Attempt, scenario: Scenario, progress: Progress, rows: list[Evidence], now: datetime) -> Clock:
    """Minutes of every step chosen, also of those still pending; seconds at work."""
    known = progress.evidence_lines()
    counted = [row for row in rows if not attempt.is_closed or str(row.pk) in known]
    spent = sum(STEPS[row.step].price_min for row in counted)
    until = attempt.seconds_at(attempt.closed_at or now)
    return Clock(spent, scenario.time_budget_min, progress.active_s(until))


def notes(progress: Progress, typed: Typed) -> dict[str, Any]:
    typed = typed.of("note")
    lines = [NoteLine(line.at_s, str(line.body["text"])) for line in progress.notes]
    return {"lines": lines, "typed": typed.value("text", 1_000_000), "error": typed.error("text") or typed.error()}


SHOWN_IN_PLACE = {
    "estimate",
    "verdict",
    "note",
    "rule_out",
    "hypothesis",
    "step",
    "verify",
    "diagnose",
    "success",
    "fix",
    "prevent",
}


def form_error(typed: Typed) -> str:
    """The sentence of a refusal that has no field of its own."""
    return "" if typed.kind in SHOWN_IN_PLACE else " ".join(typed.slips.values())
