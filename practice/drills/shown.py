"""What the pages of a sprint show. A question holds nothing of its answer; its result is made once it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from gpu_worker.probes import PROBES
from grader.drills.base import Drill
from grader.units import EXAMPLE, MEANING, Kind
from practice import markdown, words
from practice.drills import items, schedule, scopes
from practice.drills.items import Posed
from practice.drills.orders import SURE
from practice.errors import Slip
from practice.models import Question, Sprint
from practice.templatetags.practice import clock
from practice.workbench.typed import Nothing
from scenarios.causes import CAUSES
from scenarios.concept_format import Concept
from scenarios.concept_judging import Told, ask

VERDICTS = {"right": "Right", "slip": "A slip", "wrong": "Not right", "gave-up": "Shown, not answered"}
HOW = {
    "choice": "Tick all that hold.",
    "order": "Give each its place, 1 for the first.",
    "match": "Choose for each what belongs to it.",
}


@dataclass(frozen=True)
class Choice:
    """One line of a form: a box to tick, a place to give, or a side to match; `name` is the field's."""

    name: str
    value: str
    text: str
    chosen: str = ""
    error: str = ""

    @property
    def ticked(self) -> bool:
        return bool(self.chosen)


@dataclass(frozen=True)
class Ask:
    """A question before its answer."""

    index: int
    part: str
    tag: str
    text: SafeString
    kind: str
    how: str
    seconds: float
    typed: str = ""
    error: str = ""
    form_error: str = ""
    choices: tuple[Choice, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    sure: tuple[tuple[int, bool], ...] = ()


@dataclass(frozen=True)
class Result:
    """A question after its answer. `known` is False where a release has changed what was asked."""

    index: int
    part: str
    tag: str
    verdict: str
    word: str
    seconds: float | None
    rating: str
    comes_up: str
    sure: int | None
    known: bool
    text: str = ""
    given: str = ""
    right: str = ""
    within: str = ""
    off: str = ""
    slip: str = ""
    slip_told: str = ""
    steps: tuple[str, ...] = ()
    lines: tuple[Told, ...] = ()
    formula: str = ""
    explanation: SafeString | None = None
    source: str = ""
    source_url: str = ""
    lab: str = ""

    @property
    def hits(self) -> int:
        return sum(line.right for line in self.lines)

    @property
    def said(self) -> str:
        """The sentence that is read out."""
        slip = f", {self.slip}" if self.slip else ""
        right = f" The answer is {self.right}." if self.right else ""
        return f"{self.word}{slip}.{right}"


@dataclass(frozen=True)
class SprintHead:
    """Where a sprint stands."""

    id: Any
    title: str
    closed: bool
    place: str
    answered: int
    right: int
    done: float


def head(sprint: Sprint, now: datetime) -> SprintHead:
    answered = list(sprint.questions.answered().values_list("verdict", flat=True))
    right = sum(verdict == "right" for verdict in answered)
    level = f" · level {sprint.level}" if sprint.level else ""
    at = sprint.questions.count()
    if sprint.wanted is not None:
        place, done = f"question {at} of {sprint.wanted}", len(answered) / sprint.wanted
    else:
        minutes, spent = sprint.minutes or 1, sprint.seconds_at(now)
        place, done = f"question {at}, {clock(spent)} of {minutes} min", min(1.0, spent / (60 * minutes))
    return SprintHead(
        sprint.pk, scopes.title(sprint.scope) + level, sprint.is_closed, place, len(answered), right, done
    )


def question(asked: Question, posed: Posed, now: datetime, typed: Any = None, slip: Slip | None = None) -> Ask:
    """The form of a question, with what was typed in it and what is wrong with that."""
    post, slips = typed or Nothing(), slip.fields if slip else {}
    common: dict[str, Any] = {
        "index": asked.index,
        "part": scopes.part_title(posed.item),
        "tag": _tag(posed),
        "seconds": max(0.0, (now - asked.asked_at).total_seconds()),
        "typed": str(post.get("typed", "") or "")[:400],
        "error": slips.get("typed", ""),
        "form_error": slips.get("", "") or slips.get("sure", ""),
        "sure": tuple((share, str(post.get("sure", "")) == str(share)) for share in SURE),
    }
    if posed.drill:
        return Ask(text=_plain(posed.drill.text), kind="number", **common, **_number(posed.drill.kind))
    assert posed.concept is not None
    return _concept_form(posed.concept, posed.seed, post, slips, common)


def _concept_form(concept: Concept, seed: int, post: Any, slips: Mapping[str, str], common: dict[str, Any]) -> Ask:
    shown = ask(concept, seed)
    text = markdown.html(shown.question)
    if shown.number_kind:
        return Ask(text=text, kind="number", **common, **_number(shown.number_kind))
    ticked = post.getlist("choice")
    prefix = {"order": "place-", "match": "match-"}.get(shown.kind, "")
    choices = tuple(
        Choice(
            f"{prefix}{one.letter}" if prefix else "choice",
            one.letter,
            one.text,
            str(post.get(f"{prefix}{one.letter}", "")) if prefix else ("on" if one.letter in ticked else ""),
            slips.get(f"{prefix}{one.letter}", "") if prefix else "",
        )
        for one in (shown.lefts or shown.options)
    )
    places = tuple((str(at), str(at)) for at in range(1, len(shown.options) + 1))
    options = tuple((one.letter, one.text) for one in shown.options) if shown.lefts else places
    return Ask(text=text, kind=shown.kind, how=HOW[shown.kind], choices=choices, options=options, **common)


def _number(kind: Kind) -> dict[str, Any]:
    with_unit = "" if kind in ("ratio", "factor", "count") else " with its unit"
    return {"how": f"{MEANING[kind].capitalize()}{with_unit}, like {EXAMPLE[kind]}."}


def result(asked: Question) -> Result:
    """What is shown once a question is judged: the verdict as it was kept, the derivation made again from the seed."""
    posed = items.pose(asked.item, asked.seed)
    item = posed.item if posed else None
    common: dict[str, Any] = {
        "index": asked.index,
        "part": scopes.part_title(item) if item else "",
        "tag": _tag(posed) if posed else "",
        "verdict": asked.verdict,
        "word": VERDICTS.get(asked.verdict, asked.verdict),
        "seconds": asked.seconds,
        "rating": schedule.SAID.get(schedule.Rating(asked.rating), "") if asked.rating else "",
        "comes_up": _later(asked),
        "sure": asked.sure,
        "slip": asked.slip,
        "given": (asked.answer.get("typed") or [""])[0],
    }
    if posed is None or posed.fingerprint != asked.fingerprint:
        return Result(known=False, **common)
    again = items.GAVE_UP if asked.verdict == "gave-up" else items.outcome(posed, asked.answer)
    common |= {"known": True, "slip_told": again.slip_told, "lines": again.lines, "off": _off(again.off)}
    return _drill_result(posed.drill, common) if posed.drill else _concept_result(posed, common)


def _off(off: float | None) -> str:
    """A wrong number against the right one: `+41 %`, or `8 ×` where per cents say little."""
    if off is None:
        return ""
    return f"{100 * off:+.0f} %".replace("-", "−") if 0.5 < 1 + off < 2 else f"{1 + off:.3g} ×"


def _later(asked: Question) -> str:
    """From the answer to when the item comes up again: `in 10 minutes`, `in 2 days`."""
    if asked.due_at is None or asked.answered_at is None:
        return ""
    seconds = (asked.due_at - asked.answered_at).total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length)
            return f"in {number} {unit}{'s' if number > 1 else ''}"
    return "at once"


def _drill_result(drill: Drill, common: dict[str, Any]) -> Result:
    within = "exactly" if drill.exact else f"within {drill.tolerance * 100:.0f} %"
    return Result(
        text=_plain(drill.text),
        right=drill.answer_text,
        within=within,
        steps=drill.steps,
        formula=drill.formula,
        source=drill.source,
        **common,
    )


def _concept_result(posed: Posed, common: dict[str, Any]) -> Result:
    concept = posed.concept
    assert concept is not None
    number = concept.number
    if not number and not common["lines"]:
        common["lines"] = _solution(concept)
    return Result(
        text=markdown.html(concept.question),
        right=number.value if number else "",
        within=f"within {number.tolerance * 100:.0f} %" if number else "",
        explanation=markdown.html(concept.explanation),
        source=concept.source.title,
        source_url=concept.source.url or "",
        lab=_lab(concept),
        **common,
    )


def _solution(concept: Concept) -> tuple[Told, ...]:
    """What holds, for one who gave up."""
    said = {True: "holds", False: "does not hold"}
    ticks = [Told(one.text, False, "", said[one.right], one.why) for one in concept.choice]
    places = [Told(one.text, False, "", f"place {at}", one.why) for at, one in enumerate(concept.order, 1)]
    return (*ticks, *places, *(Told(one.left, False, "", one.right, one.why) for one in concept.match))


def _lab(concept: Concept) -> str:
    """The run of the lab that shows it, in words."""
    if concept.lab is None:
        return ""
    run = concept.lab
    with_ = f" ({words.with_text(run.with_)})" if run.with_ else ""
    cause = CAUSES[run.cause].title if run.cause in CAUSES else run.cause
    return f"{PROBES[run.step].title}{with_}, with this fault in place: {cause}"


def _tag(posed: Posed) -> str:
    return f"level {posed.drill.level}" if posed.drill else "concept"


def _plain(text: str) -> SafeString:
    return mark_safe(f"<p>{escape(text)}</p>")


@dataclass(frozen=True)
class Line:
    """One question of a sprint that has ended, or of its history."""

    index: int
    title: str
    tag: str
    word: str
    verdict: str
    slip: str
    seconds: float | None
    rating: str


def lines(questions: Sequence[Question]) -> list[Line]:
    """The answered questions of a sprint, in order."""
    known = items.every()
    told = []
    for one in questions:
        if not one.is_answered:
            continue
        item = known.get(one.item)
        title = item.title if item else one.item.partition(":")[2]
        tag = ("concept" if not item.level else f"level {item.level}") if item else ""
        rating = schedule.Rating(one.rating).name.lower() if one.rating else ""
        told.append(
            Line(one.index, title, tag, VERDICTS.get(one.verdict, ""), one.verdict, one.slip, one.seconds, rating)
        )
    return told
