"""How long grading takes: 40 events, 18 causes and 33 steps, and twice the events against once."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from bench.figure import Figure
from grader.grade import grade
from grader.knowledge import (
    AcceptedValue,
    CauseKnowledge,
    Cell,
    EstimateKnowledge,
    FixKnowledge,
    Knowledge,
    MeasureKnowledge,
    StepKnowledge,
)
from grader.transcript import parse_transcript
from scenarios import rubrics

CAUSES, STEPS, EVENTS, REPEATS = 18, 33, 40, 15
FAMILIES = ("host", "input", "fabric", "job", "comparison")


def cell(cause: int, step: int) -> Cell:
    """Two thirds of the steps split the causes, each in its own way."""
    high = 0.9 if (cause * 7 + step * 3) % 3 else 0.05
    p = {"yes": high, "no": 0.97 - high, "inconclusive": 0.03}
    upper = {finding: min(1.0, share + 0.04) for finding, share in p.items()}
    return Cell(p=p, upper=upper, runs=30, own_runs=30, pool=(f"cause-{cause}",), basis="counts")


def step(number: int, experiment: str = "") -> StepKnowledge:
    cells = {f"cause-{cause}": cell(cause, number) for cause in range(CAUSES)}
    return StepKnowledge(
        step=f"step-{number}",
        title=f"Step {number}",
        experiment=experiment or f"experiment-{number % 12}",
        price_min=3 + number % 9,
        tells=(("straggler",), ("bisect",), ("link",))[number % 3],
        findings=("yes", "no", "inconclusive"),
        cells={**cells, "healthy": cell(0, number)},
    )


def knowledge() -> Knowledge:
    causes = tuple(
        CauseKnowledge(id=f"cause-{n}", family=FAMILIES[n % 5], title=f"Cause {n}", prior=1 / CAUSES, place_kind="none")
        for n in range(CAUSES)
    )
    return Knowledge(
        scenario="bench",
        revision=1,
        calibration="made",
        track="stragglers",
        causes=causes,
        steps=tuple(step(number) for number in range(STEPS)),
        symptom=step(99, "symptom"),
        fixes=(FixKnowledge(id="fix", title="Fix", takes_place=False, effects={"cause-3": "cures"}),),
        measures=(MeasureKnowledge(id="measure", title="Measure", catches=("cause-3",)),),
        estimates=(
            EstimateKnowledge(
                quantity="collective-floor", scale="production", kind="time", accepted=(AcceptedValue(value=5.6),)
            ),
        ),
        time_budget_min=90,
    )


def transcript(events: int) -> dict[str, Any]:
    """An estimate, then steps and eliminations by turns, then the conclusion: `events` in all."""
    listed: list[dict[str, Any]] = [
        {"kind": "estimate", "quantity": "collective-floor", "scale": "production", "value": "5.6 s"},
        {"kind": "verdict", "collective": "below-floor"},
    ]
    while len(listed) < events - 5:
        number = len(listed) % STEPS
        read = {"step": f"step-{number}", "with": {}, "finding": "yes", "evidence": f"e{number}"}
        listed.append({"kind": "step", **read})
        out = {"kind": "rule_out", "causes": [f"cause-{number % CAUSES}"], "families": [], "because": [len(listed) - 1]}
        listed.append(out)
    listed += [
        {"kind": "diagnose", "causes": ["cause-3"], "confidence": 0.8, "because": [2]},
        {"kind": "success", "metric": "fraction-of-floor", "threshold": "90 %"},
        {"kind": "fix", "fix": "fix"},
        {"kind": "prevent", "measures": ["measure"]},
        {"kind": "close"},
    ]
    timed = [{"at_s": 10.0 * place, **event} for place, event in enumerate(listed)]
    return {"scenario": "bench", "revision": 1, "causes": ["cause-3"], "places": {}, "truths": {}, "events": timed}


def seconds_of(events: int) -> float:
    """Median over repeats, parsing left out, the first discarded."""
    known, parsed, rubric = knowledge(), parse_transcript(transcript(events)), rubrics.for_track("stragglers")
    taken = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        grade(parsed, known, rubric)
        taken.append(time.perf_counter() - began)
    return median(taken[1:])


def measure() -> list[Figure]:
    once, twice = seconds_of(EVENTS), seconds_of(2 * EVENTS)
    name = f"{EVENTS} events, {CAUSES} causes, {STEPS} steps"
    return [
        Figure("grading", name, 1000 * once, "ms", mark=5.0),
        Figure("grading", "twice the events against once", twice / once, "", mark=2.5, note="linear is 2"),
    ]
