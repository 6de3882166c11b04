"""The page of the conclusion: diagnosis, success, fix, verification, prevention, close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from grader.transcript import variant_id
from practice import orders, places, words
from practice.progress import Line, Progress
from practice.workbench import alerting, board
from practice.workbench.typed import Typed
from scenarios.causes import CAUSES
from scenarios.format import Scenario
from scenarios.palette import STEPS


@dataclass(frozen=True)
class Option:
    id: str
    label: str
    chosen: bool = False
    hint: str = ""


@dataclass(frozen=True)
class OptionGroup:
    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Diagnosis:
    """The form, filled with what was sent or said last; `summary` once there is one."""

    summary: dict[str, Any] | None
    families: tuple[OptionGroup, ...]
    places: tuple[OptionGroup, ...]
    confidence: str
    cited: tuple[Option, ...]
    text: str
    errors: dict[str, str]


def diagnosis(scenario: Scenario, progress: Progress, typed: Typed) -> Diagnosis:
    typed, said = typed.of("diagnose"), progress.diagnosis
    body = said.body if said else {}
    causes = set(typed.post.getlist("causes") if typed.kind else body.get("causes", ()))
    where = typed.value("where") if typed.kind else str(body.get("where") or "")
    share = body.get("confidence")
    because = set(map(str, typed.post.getlist("because") if typed.kind else body.get("because", ())))
    return Diagnosis(
        summary=diagnosis_summary(said, progress) if said else None,
        families=tuple(
            OptionGroup(
                words.FAMILIES[family],
                tuple(Option(c, CAUSES[c].title, c in causes, "out" if c in progress.struck else "") for c in listed),
            )
            for family, listed in orders.families(scenario).items()
        ),
        places=tuple(
            OptionGroup(g.title, tuple(Option(p.id, p.label, p.id == where) for p in g.places))
            for g in places.groups(scenario)
        ),
        confidence=typed.value("confidence", 12) if typed.kind else ("" if share is None else f"{100 * share:g}"),
        cited=tuple(Option(str(line.index), step_label(line), str(line.index) in because) for line in progress.steps),
        text=typed.value("text") if typed.kind else str(body.get("text", "")),
        errors=dict(typed.slips),
    )


def diagnosis_summary(line: Line, progress: Progress) -> dict[str, Any]:
    body = line.body
    return {
        "at_s": line.at_s,
        "causes": ", ".join(CAUSES[cause].title for cause in body["causes"]),
        "where": places.say(body.get("where")),
        "confidence": body.get("confidence"),
        "because": ", ".join(board.titles_of(body.get("because", ()), progress)),
        "text": body.get("text", ""),
    }


def step_label(line: Line) -> str:
    """`Microbenchmark, the job's size, placed as the job is`."""
    title = board.step_title(line.body["step"])
    return ", ".join(filter(None, [title, words.with_text(line.body.get("with") or {})]))


@dataclass(frozen=True)
class Success:
    summary: dict[str, Any] | None
    metrics: tuple[Option, ...]
    threshold: str
    errors: dict[str, str]


def success(progress: Progress, typed: Typed) -> Success:
    typed, said = typed.of("success"), progress.success
    body = said.body if said else {}
    metric = typed.value("metric") if typed.kind else str(body.get("metric", ""))
    summary = None
    if said:
        known = orders.METRICS.get(str(body["metric"]))
        summary = {
            "at_s": said.at_s,
            "metric": known.title if known else body["metric"],
            "sense": known.sense if known else "",
            "threshold": body["threshold"],
        }
    metrics = tuple(Option(id, f"{m.title}, {m.sense} …", id == metric, m.example) for id, m in orders.METRICS.items())
    return Success(
        summary,
        metrics,
        typed.value("threshold", 64) if typed.kind else str(body.get("threshold", "")),
        dict(typed.slips),
    )


@dataclass(frozen=True)
class FixOption:
    id: str
    title: str
    description: str
    takes_place: str
    places: tuple[Option, ...]
    chosen: bool
    error: str


@dataclass(frozen=True)
class Fixes:
    applied: tuple[dict[str, Any], ...]
    options: tuple[FixOption, ...]
    declared: bool
    error: str


def fixes(scenario: Scenario, progress: Progress, typed: Typed) -> Fixes:
    typed = typed.of("fix")
    titles = {fix.id: fix.title for fix in scenario.fixes}
    by_kind = {group.kind: group.places for group in places.groups(scenario)}
    chosen = typed.value("fix")
    return Fixes(
        applied=tuple(
            {
                "title": titles.get(line.body["fix"], line.body["fix"]),
                "where": places.say(line.body.get("where")),
                "at_s": line.at_s,
            }
            for line in progress.fixes
        ),
        options=tuple(
            FixOption(
                fix.id,
                fix.title,
                fix.description,
                fix.takes_place or "",
                tuple(
                    Option(p.id, p.label, p.id == typed.value(f"where-{fix.id}"))
                    for p in by_kind.get(fix.takes_place or "", ())
                ),
                fix.id == chosen,
                typed.error(f"where-{fix.id}"),
            )
            for fix in scenario.fixes
        ),
        declared=progress.success is not None,
        error=" ".join(text for field, text in typed.slips.items() if not field.startswith("where-")),
    )


@dataclass(frozen=True)
class Verify:
    ready: bool
    full: bool
    variants: tuple[Option, ...]
    against: tuple[Option, ...]
    error: str


def verify(scenario: Scenario, progress: Progress, pending: int, typed: Typed) -> Verify:
    typed = typed.of("verify")
    offered = [
        (step, with_) for step in STEPS if step in scenario.steps and step in PROBES for with_ in variants(PROBES[step])
    ]
    held = set(typed.post.getlist("against"))
    return Verify(
        ready=bool(progress.fixes),
        full=pending >= 2,
        variants=tuple(
            Option(
                variant_id(step, with_), variant_label(step, with_), typed.value("variant") == variant_id(step, with_)
            )
            for step, with_ in offered
        ),
        against=tuple(Option(id, words.AGAINST[id], id in held) for id in orders.AGAINST),
        error=" ".join(typed.slips.values()),
    )


def variant_label(step: str, with_: dict[str, str]) -> str:
    about = STEPS[step]
    name = ", ".join(filter(None, [PROBES[step].title, words.with_text(with_)]))
    return f"{name} · {about.price_min:g} min{' ■' if about.stops_job else ''}"


@dataclass(frozen=True)
class Prevention:
    at_s: float | None
    measures: tuple[Option, ...]
    alerts: alerting.Builder | None
    error: str


def prevention(scenario: Scenario, progress: Progress, typed: Typed) -> Prevention:
    typed, said = typed.of("prevent"), progress.prevention
    chosen = set(typed.post.getlist("measures") if typed.kind else (said.body["measures"] if said else ()))
    measures = tuple(Option(m.id, m.title, m.id in chosen, m.description) for m in scenario.measures)
    elsewhere = " ".join(text for field, text in typed.slips.items() if not field.startswith("alert-"))
    return Prevention(said.at_s if said else None, measures, alerting.builder(scenario.table, said, typed), elsewhere)


@dataclass(frozen=True)
class Stage:
    id: str
    title: str
    done: bool


def stages(progress: Progress) -> tuple[Stage, ...]:
    """What a conclusion holds, in order, and which of it is there."""
    return (
        Stage("diagnosis", "Name the cause", progress.diagnosis is not None),
        Stage("success", "Say what success is", progress.success is not None),
        Stage("fixes", "Apply a fix", bool(progress.fixes)),
        Stage("verify", "Verify it", bool(progress.verifications)),
        Stage("prevention", "Prevent it", progress.prevention is not None),
        Stage("close", "Close", False),
    )
