"""Every component once, with made-up content: a page for those who build pages, in DEBUG only."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import mark_safe

from gpu_worker import figures
from practice.design import items as design_items
from practice.design.base import Typed
from practice.drills import items
from practice.drills.shown import SprintHead, question, result
from practice.errors import Slip
from practice.models import Question
from practice.workbench import board, brief, cards, palette
from practice.workbench.scorecard import CriterionRow, EventLink

NOBODY = UUID(int=0)
RANKS = ("rank 0", "rank 1", "rank 2", "rank 3")


def page(request: HttpRequest) -> HttpResponse:
    """Panels and parts under the names of their templates."""
    return render(
        request,
        "practice/components.html",
        {
            "bench": bench(),
            "rows": criteria(),
            "cards": [pending(), shown()],
            "drills": drills(timezone.now()),
            "design": design(),
        },
    )


def design() -> dict[str, Any]:
    """The form of each kind of exercise with a refusal in it, and a result of drawn groups with one kind wrong."""
    forms: dict[str, Any] = {}
    for id, field in (("groups/1", "data"), ("shapes", "0-gathered"), ("cadence", "mtbf")):
        posed = design_items.pose(id, 1)
        assert posed is not None
        forms[posed.kind.id] = posed.kind.ask(posed.task, Typed({field: ["plum"]}, {field: "I cannot read “plum”."}))
    posed = design_items.pose("groups/1", 1)
    assert posed is not None
    kind, task = posed.kind, posed.task
    given = kind.model_answer(task)
    first, second = task.plan.kinds[:2]
    given[first] = given[second]
    judged = kind.judge(task, given)
    attempt = SimpleNamespace(shown=False, right=judged.right, asked=judged.asked)
    result = {"result": kind.result(task, given, judged, ()), "kind": kind, "item": posed.item, "seconds": 95.0}
    return {"forms": forms, "attempt": attempt, **result}


def drills(now: datetime) -> dict[str, Any]:
    """A number asked for, with a refusal; a slip; a concept that was answered in part."""
    head = SprintHead(NOBODY, "Napkin math, mixed", False, "question 2 of 10", 1, 1, 0.1)
    asked = Question(index=1, item="napkin:ring-all-reduce/1", seed=7, asked_at=now)
    posed = items.pose(asked.item, asked.seed)
    assert posed is not None and posed.drill is not None
    slipped = Question(
        index=1,
        item=asked.item,
        seed=7,
        fingerprint=posed.fingerprint,
        asked_at=now,
        answered_at=now,
        answer={"typed": ["80 ms"]},
        verdict="slip",
        slip=posed.drill.slips[0].name,
        rating=1,
        due_at=now,
    )
    refused = Slip("5.6 of what? Write the unit too, for example 5.6 s.", "typed")
    ask = question(asked, posed, now, QueryDict("typed=5.6"), refused)
    return {"head": head, "ask": ask, "result": result(slipped)}


def cause(id: str, title: str, struck: str = "", suspected: bool = False) -> board.CauseLine:
    by = board.StruckBy(struck, 61.0) if struck else None
    return board.CauseLine(id, title, "What it is, in a sentence.", by, suspected, "token-00000001")


def families() -> tuple[board.Family, ...]:
    host = board.Family("host", "Host", (cause("a", "One throttled rank", struck="Per-rank step times"),))
    fabric = board.Family(
        "fabric", "Fabric", (cause("b", "One degraded link", suspected=True), cause("c", "Worse placement"))
    )
    return (host, fabric)


def pending() -> cards.Card:
    progress = {"share": 0.62, "seconds_left": 4.0, "live": True, "text": "Measuring on the lab, about 4 s left"}
    return cards.Card(
        str(UUID(int=1)), "Collective microbenchmark", "step", "the job’s size", 8, True, shown=False, progress=progress
    )


def shown() -> cards.Card:
    values = [470.0, 466.0, 474.0, 468.0]
    bars = figures.bars("forward", "c1", RANKS, values, [f"{value:.0f} ms" for value in values])
    figure = figures.frame(
        [bars], alt="Four made-up bars", rows=4, x=figures.numbers("ms a step"), y=figures.names(RANKS)
    )
    table = cards.SeriesTable(
        "Made up.",
        (cards.Labelled("rank", ""), cards.Labelled("forward", "", numeric=True)),
        tuple(
            (cards.Text(rank), cards.Text(f"{value:.0f} ms", numeric=True))
            for rank, value in zip(RANKS, values, strict=True)
        ),
    )
    return cards.Card(
        str(UUID(int=2)),
        "Per-rank step times",
        "step",
        "",
        3,
        False,
        shown=True,
        event_index=4,
        at_s=72.0,
        live=True,
        figure=figure,
        caption="Made up.",
        readings=(cards.Labelled("Step time", "732 ms"), cards.Labelled("Worst compute score", "0.98")),
        series=(table,),
        provenance=(cards.Labelled("backend", "gloo"),),
        on_nccl="Where one would look there.",
        prediction=(cards.Predicted("One throttled rank", "One rank takes clearly longer."),),
        rules_out=("One throttled rank",),
        out_families=families()[1:],
        others=(cards.Other(2, "Link rates"),),
    )


def criteria() -> list[CriterionRow]:
    links = (EventLink(3, 41.0),)
    return [
        CriterionRow(
            "quantify", "Floor first", 1.0, 0.22, True, "5.6 s before any measurement, right to 1 %.", False, links
        ),
        CriterionRow("rule-outs", "What it rules out", 0.58, 0.2, True, "Placement was never ruled out.", True, links),
        CriterionRow("bisect", "Bisect", 0.0, 0.0, False, "A straggler had been shown.", True, ()),
    ]


def estimates() -> brief.Estimates:
    noted = brief.Cell("floor-production", "production", "… s", "5.6 s", 41.0, "", "")
    wrong = brief.Cell(
        "floor-lab", "this lab", "… s", "", None, "banana", "I cannot read “banana”. Write a time like 5.6 s."
    )
    return brief.Estimates((brief.EstimateRow("floor", (noted, wrong)),), True, True, "", "", "", "1 of 2 noted")


def palette_of_two() -> palette.Palette:
    size = palette.Parameter(
        "size", "Message size", (palette.Choice("job", "the job’s size", True), palette.Choice("small", "small", False))
    )
    finding = palette.Finding("even", "All ranks are alike.")
    opened = palette.StepForm(
        "x", "Microbenchmark", "How fast is it alone?", 8, True, (size,), (finding,), "x", 1, "t", True, ""
    )
    closed = palette.StepForm(
        "y", "Link rates", "What do links run at?", 12, False, (), (finding,), "y", 0, "t", False, ""
    )
    named = (palette.Named("b", "One degraded link"),)
    return palette.Palette((palette.Group("Fabric", (opened, closed)),), 2, named, True, False, False, "")


def bench() -> Any:
    """Just enough of a bench for the panels."""
    rows = (("gradient a step", "140 GB", "14.8 MB"),)
    return SimpleNamespace(
        id=NOBODY,
        title="Your all-reduce got slow",
        track="Stragglers",
        here="search",
        closed=False,
        after_fix=False,
        pending=1,
        headline="MFU fell from 40 % to 22 %",
        brief_html=mark_safe("<p>The brief of the incident.</p>"),
        scale=SimpleNamespace(rows=rows, note="Ratios to the floor carry over; times do not."),
        symptom=[brief.Before("model FLOPs utilisation", "40 %", "22 %")],
        estimates=estimates(),
        verdict=brief.Verdict(
            (
                brief.VerdictChoice("at-floor", "at its floor", False),
                brief.VerdictChoice("below-floor", "below it", True),
            ),
            50.0,
            "",
        ),
        facts=[
            brief.FactLine("f", "Which batch?", None, "t"),
            brief.FactLine("g", "Which fabric?", mark_safe("<p>Leaf and spine.</p>"), "t"),
        ],
        hints={"taken": [], "next": brief.HintLine(1, "", "t")},
        palette=palette_of_two(),
        cards=[],
        board=board.Board(families(), 2, 3, ""),
        notes={"lines": [SimpleNamespace(at_s=90.0, text="A note.")], "typed": "", "error": ""},
        clock=SimpleNamespace(spent_min=95, budget_min=90, active_s=252.0, over=True),
        token="token-00000000",
        form_error="A refusal that belongs to no field.",
        goto_label="Name the cause",
    )
