"""The log as sentences: one a line, in the words of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from practice import alerts, orders, places, words
from practice.progress import Line, Progress
from practice.workbench import board
from scenarios.causes import CAUSES
from scenarios.format import Scenario


@dataclass(frozen=True)
class Entry:
    index: int
    at_s: float
    kind: str
    text: str


def entries(progress: Progress, scenario: Scenario) -> tuple[Entry, ...]:
    """Every event of the log, in order."""
    return tuple(
        Entry(
            line.index,
            line.at_s,
            line.kind.replace("_", " "),
            SAY[line.kind](line, progress, scenario) if line.kind in SAY else "",
        )
        for line in progress.lines
    )


def titles(causes: Any) -> str:
    return ", ".join(CAUSES[cause].title if cause in CAUSES else cause for cause in causes or ())


def because(line: Line, progress: Progress) -> str:
    cited = ", ".join(board.titles_of(line.body.get("because") or (), progress))
    text = line.body.get("text", "")
    return "".join([f", on {cited}" if cited else "", f": {text}" if text else ""])


def step(line: Line, progress: Progress, scenario: Scenario) -> str:
    return ", ".join(filter(None, [board.step_title(line.body["step"]), words.with_text(line.body.get("with") or {})]))


def estimate(line: Line, progress: Progress, scenario: Scenario) -> str:
    body = line.body
    name = (
        f"{words.QUANTITIES.get(body['quantity'], body['quantity'])}, {words.SCALES.get(body['scale'], body['scale'])}"
    )
    return f"{name}: {body['value']}" + (f", assuming {body['assuming']}" if body.get("assuming") else "")


def rule_out(line: Line, progress: Progress, scenario: Scenario) -> str:
    families = [f"all of {words.FAMILIES.get(f, f).lower()}" for f in line.body.get("families") or ()]
    return ", ".join(filter(None, [titles(line.body.get("causes")), *families])) + because(line, progress)


def diagnose(line: Line, progress: Progress, scenario: Scenario) -> str:
    where, share = places.say(line.body.get("where")), line.body.get("confidence")
    sure = "" if share is None else f", {100 * share:.0f} % sure"
    return f"{titles(line.body['causes'])}{f' at {where}' if where else ''}{sure}{because(line, progress)}"


def success(line: Line, progress: Progress, scenario: Scenario) -> str:
    metric = orders.METRICS.get(str(line.body["metric"]))
    return (
        f"{metric.title if metric else line.body['metric']} {metric.sense if metric else ''} {line.body['threshold']}"
    )


def fix(line: Line, progress: Progress, scenario: Scenario) -> str:
    title = next((fix.title for fix in scenario.fixes if fix.id == line.body["fix"]), line.body["fix"])
    where = places.say(line.body.get("where"))
    return f"{title}{f' at {where}' if where else ''}"


def fact(line: Line, progress: Progress, scenario: Scenario) -> str:
    return next((fact.question for fact in scenario.facts if fact.id == line.body["fact"]), line.body["fact"])


def measures(line: Line, progress: Progress, scenario: Scenario) -> str:
    known = {measure.id: measure.title for measure in scenario.measures}
    watched = [one for one in map(alerts.of_event, line.body.get("alerts", ())) if one is not None]
    said = [*(known.get(one, one) for one in line.body["measures"]), *(f"alert: {one.sentence}" for one in watched)]
    return ", ".join(said) or "none"


def expect(line: Line, progress: Progress, scenario: Scenario) -> str:
    said = "; ".join(f"{titles(one['causes'])}: {one['finding'].replace('-', ' ')}" for one in line.body["expect"])
    return f"{step(line, progress, scenario)}. {said}"


SAY: Mapping[str, Callable[[Line, Progress, Scenario], str]] = {
    "ask": fact,
    "estimate": estimate,
    "verdict": lambda line, progress, scenario: words.VERDICTS.get(line.body["collective"], line.body["collective"]),
    "hypothesis": lambda line, progress, scenario: titles(line.body["causes"]) or "none",
    "predict": expect,
    "step": step,
    "rule_out": rule_out,
    "restore": lambda line, progress, scenario: titles(line.body["causes"]),
    "note": lambda line, progress, scenario: str(line.body["text"]),
    "hint": lambda line, progress, scenario: f"level {line.body['level']}",
    "diagnose": diagnose,
    "success": success,
    "fix": fix,
    "verify": step,
    "prevent": measures,
}
