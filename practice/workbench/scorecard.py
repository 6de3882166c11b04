"""The scorecard's page, from what the grader returned, the log and the draw. Only for closed attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_worker.faults import FAULTS, describe
from gpu_worker.readable import say
from grader.knowledge import EstimateKnowledge, Knowledge
from grader.transcript import variant_id
from grader.units import QuantityError, format_quantity, parse_quantity
from practice import markdown, places, words
from practice.progress import Line, Progress
from practice.workbench import figures
from practice.workbench.alerting import Afterwards, afterwards
from practice.workbench.eventlog import Entry, entries
from practice.workbench.typed import Typed
from scenarios.causes import CAUSES
from scenarios.format import Scenario
from scenarios.instances import Instance, accepted_places

GOOD_ENOUGH = 0.65
RIGHT_WITHIN = 0.10
SLIPPED_WITHIN = 1.0


@dataclass(frozen=True)
class EventLink:
    index: int
    at_s: float


@dataclass(frozen=True)
class CriterionRow:
    id: str
    title: str
    score: float
    weight: float
    applicable: bool
    why: str
    low: bool
    events: tuple[EventLink, ...]


@dataclass(frozen=True)
class StepRow:
    event: int
    at_s: float
    title: str
    finding: str
    gain_bits: float
    minutes: float
    best: str
    best_gain_bits: float
    is_best: bool
    counted: bool


@dataclass(frozen=True)
class Told:
    """One estimate beside what is right."""

    label: str
    given: str
    right: str
    word: str
    at_s: float | None


@dataclass(frozen=True)
class Hidden:
    """What was drawn: the cause, its place, its magnitude, and the story behind it."""

    title: str
    family: str
    place: str
    also: str
    magnitude: tuple[tuple[str, str], ...]
    debrief: Any
    on_lab: str
    on_nccl: str


@dataclass(frozen=True)
class BeliefRow:
    """One cause's posterior after each step; `true` marks the hidden one."""

    title: str
    true: bool
    cells: tuple[BeliefCell, ...]


@dataclass(frozen=True)
class BeliefCell:
    share: float
    level: int
    entailed: bool


@dataclass(frozen=True)
class Debrief:
    """Everything on the page."""

    points: int
    headline: str
    sentence: str
    labels: tuple[tuple[str, str], ...]
    criteria: tuple[CriterionRow, ...]
    steps: tuple[StepRow, ...]
    best_path: tuple[Mapping[str, Any], ...]
    hidden: Hidden
    estimates: tuple[Told, ...]
    belief_heads: tuple[str, ...]
    beliefs: tuple[BeliefRow, ...]
    figure: dict[str, Any]
    ruled_out: tuple[Mapping[str, Any], ...]
    predictions: tuple[Mapping[str, Any], ...]
    verifications: tuple[Mapping[str, Any], ...]
    dimensions: tuple[tuple[str, Mapping[str, Any]], ...]
    log: tuple[Entry, ...]
    alerts: Afterwards | None
    body: Mapping[str, Any]


def debrief(
    body: Mapping[str, Any],
    scenario: Scenario,
    instance: Instance,
    progress: Progress,
    knowledge: Knowledge,
    fraction: float,
    typed: Typed,
) -> Debrief:
    """`body` is the stored scorecard; `fraction` the measured fraction of the floor; `typed` an alert to try."""
    at = {line.index: line.at_s for line in progress.lines}
    heads, beliefs = belief_table(body, instance.cause)
    return Debrief(
        points=round(100 * body["total"]),
        headline=headline(body, instance, progress),
        sentence=sentence(body, instance, fraction),
        labels=tuple(body["label_reasons"].items()),
        criteria=tuple(criterion(id, one, at) for id, one in body["criteria"].items()),
        steps=tuple(step(one, at) for one in body["steps"]),
        best_path=tuple(
            {**one, "sentence": sentence_of(knowledge, one["step"], one["finding"])} for one in body["best_path"]
        ),
        hidden=hidden(scenario, instance),
        estimates=tuple(told(known, progress, fraction) for known in knowledge.estimates),
        belief_heads=heads,
        beliefs=beliefs,
        figure=figures.belief(body["posteriors"], body["steps"], instance.cause, CAUSES),
        ruled_out=tuple(ruled_out(one, knowledge, at) for one in body["ruled_out"]),
        predictions=tuple(
            {**one, "title": variant_title(knowledge, one["step"]), "at_s": at.get(one["event"])}
            for one in body["predictions"]
        ),
        verifications=tuple(
            {
                **one,
                "title": variant_title(knowledge, one["step"]),
                "sentence": sentence_of(knowledge, one["step"], one["finding"]),
                "at_s": at.get(one["event"]),
            }
            for one in body["verifications"]
        ),
        dimensions=tuple(body["dimensions"].items()),
        log=entries(progress, scenario),
        alerts=afterwards(body.get("alerts", ()), instance, typed),
        body=body,
    )


def ruled_out(one: Mapping[str, Any], knowledge: Knowledge, at: Mapping[int, float]) -> dict[str, Any]:
    """One claim with the titles of what it cites."""
    cited = ", ".join(variant_title(knowledge, ref) for ref in one["cited"])
    return {
        **one,
        "title": CAUSES[one["cause"]].title,
        "word": STATUS[one["status"]],
        "cited": cited,
        "at_s": at.get(one["event"]),
    }


STATUS = {
    "entailed": "your readings excluded it",
    "not yet": "not excluded yet",
    "contradicted": "your readings spoke for it",
}


def small(title: str) -> str:
    """A cause's title inside a sentence: `one degraded link`."""
    return title[:1].lower() + title[1:]


def headline(body: Mapping[str, Any], instance: Instance, progress: Progress) -> str:
    """One sentence: what it was, and what the search made of it."""
    truth = small(CAUSES[instance.cause].title)
    said = progress.diagnosis.body["causes"] if progress.diagnosis else []
    if not said:
        return f"It was {truth}. No cause was named."
    if instance.cause not in said:
        named = " or ".join(small(CAUSES[cause].title) for cause in said)
        return f"It was {truth}. You named {named}."
    if "lucky" in body["labels"]:
        return f"It was {truth}. You named it; your evidence did not."
    return (
        f"It was {truth}, and your search found it."
        if len(said) == 1
        else f"It was {truth}, one of the causes that you named."
    )


def sentence(body: Mapping[str, Any], instance: Instance, fraction: float) -> str:
    """Minutes spent against the best search, beside what the symptom measured."""
    spent, best = body["minutes_spent"], body.get("minutes_best")
    parts = [f"The job’s all-reduce ran at {100 * fraction:.0f} % of its floor."]
    parts.append(
        f"You spent {spent:g} cluster minutes; the best search expects {best:.0f}."
        if best
        else f"You spent {spent:g} cluster minutes."
    )
    return " ".join(parts)


def criterion(id: str, one: Mapping[str, Any], at: Mapping[int, float]) -> CriterionRow:
    links = tuple(EventLink(index, at[index]) for index in one["events"] if index in at)
    return CriterionRow(
        id, one["title"], one["score"], one["weight"], one["applicable"], one["why"], one["score"] < GOOD_ENOUGH, links
    )


def step(one: Mapping[str, Any], at: Mapping[int, float]) -> StepRow:
    return StepRow(
        one["event"],
        at.get(one["event"], 0.0),
        one["title"],
        one["finding_sentence"],
        one["gain_bits"],
        one["minutes"],
        one["best_title"],
        one["best_gain_bits"],
        one["best_step"] == one["step"],
        one["counted"],
    )


def hidden(scenario: Scenario, instance: Instance) -> Hidden:
    cause, bound = CAUSES[instance.cause], scenario.cause(instance.cause)
    known = describe(FAULTS[instance.cause])["params"] if instance.cause in FAULTS else {}
    magnitude = [
        (known.get(name, {}).get("description") or name, say(value, known.get(name, {}).get("unit") or ""))
        for name, value in instance.params.items()
    ]
    topology = instance.setting.topology
    if instance.cause == "worse-placement":
        magnitude.append(("uplinks of the far leaf", say(topology.far_uplink_rate, "bit/s")))
    if instance.cause == "fallback-transport":
        magnitude.append(("the management network", say(topology.management_rate, "bit/s")))
    return Hidden(
        cause.title,
        words.FAMILIES[cause.family],
        places.say(instance.place),
        ", ".join(places.say(place) for place in accepted_beside(instance)),
        tuple(magnitude),
        markdown.html(bound.debrief),
        cause.on_lab,
        cause.on_nccl,
    )


def accepted_beside(instance: Instance) -> list[str]:
    return [place for place in accepted_places(instance) if place != instance.place]


def told(known: EstimateKnowledge, progress: Progress, fraction: float) -> Told:
    """What was noted beside what is right, with a word for how near it was."""
    line = progress.estimates.get((known.quantity, known.scale))
    accepted = [one.value for one in known.accepted] or [fraction]
    right = " or ".join(format_quantity(value, known.kind) for value in accepted)
    label = f"{words.QUANTITIES.get(known.quantity, known.quantity)}, {words.SCALES[known.scale]}"
    if line is None:
        return Told(label, "", right, "not estimated", None)
    return Told(label, str(line.body["value"]), right, nearness(line, known, fraction), line.at_s)


def nearness(line: Line, known: EstimateKnowledge, fraction: float) -> str:
    try:
        given = parse_quantity(str(line.body["value"]), known.kind)
    except QuantityError:
        return "not read"
    # An accepted value that rests on an assumption counts where one was stated.
    values = [one.value for one in known.accepted if not one.assuming or line.body.get("assuming")] or [fraction]
    off = min(abs(given / value - 1) for value in values)
    if off <= RIGHT_WITHIN:
        return "right"
    return f"off by {100 * off:.0f} %" if off < SLIPPED_WITHIN else "far off"


def variant_title(knowledge: Knowledge, variant: str) -> str:
    for one in knowledge.steps:
        if variant_id(one.step, one.with_) == variant:
            return ", ".join(filter(None, [one.title, words.with_text(one.with_)]))
    return next((one.title for one in knowledge.steps if one.step == variant), variant)


def sentence_of(knowledge: Knowledge, variant: str, finding: str) -> str:
    for one in knowledge.steps:
        if variant_id(one.step, one.with_) == variant:
            return one.sentences.get(finding, finding)
    return finding


def belief_table(body: Mapping[str, Any], true: str) -> tuple[tuple[str, ...], tuple[BeliefRow, ...]]:
    """Causes down, moments across: each share with a level from 0 to 5 for its shade."""
    moments = body["posteriors"]
    heads = tuple(moment["title"] for moment in moments)
    causes: Iterable[str] = moments[0]["posterior"] if moments else ()
    rows = tuple(
        BeliefRow(
            CAUSES[cause].title if cause in CAUSES else "something else",
            cause == true,
            tuple(cell(moment["posterior"].get(cause, 0.0), cause in moment["entailed"]) for moment in moments),
        )
        for cause in causes
    )
    return heads, rows


def cell(share: float, entailed: bool) -> BeliefCell:
    return BeliefCell(share, min(5, int(share * 5.999)) if share >= 0.02 else 0, entailed)
