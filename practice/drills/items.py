"""What can be asked: every napkin drill and every concept, one way of asking and judging for both. No database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from grader.drills import making
from grader.drills.base import Drill
from grader.drills.judging import judge
from grader.units import QuantityError
from practice.errors import Slip as FormSlip
from scenarios import concepts
from scenarios.concept_format import Concept
from scenarios.concept_judging import NotAnAnswer, Told, judge_concept

Verdict = Literal["right", "slip", "wrong", "gave-up"]
NAPKIN, CONCEPT = "napkin", "concept"
SLOW_CONCEPT_AFTER_S = 90
Given = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Item:
    """Something that is asked again and again: a drill with other numbers each time, a concept in another order.

    `part` is the topic of a drill, or the step of the search that a concept trains; a concept has level 0.
    """

    id: str
    kind: str
    part: str
    level: int
    title: str


@dataclass(frozen=True)
class Posed:
    """An item with its seed: what is asked, and all that is right about it. Never handed to a template as it is."""

    item: Item
    seed: int
    fingerprint: str
    drill: Drill | None = None
    concept: Concept | None = None

    @property
    def slow_after_s(self) -> int:
        return making.SLOW_AFTER_S[self.drill.level] if self.drill else SLOW_CONCEPT_AFTER_S


@dataclass(frozen=True)
class Outcome:
    """A judged answer. `off` is its relative error where it is a number."""

    verdict: Verdict
    off: float | None = None
    slip_name: str = ""
    slip_told: str = ""
    lines: tuple[Told, ...] = ()


@cache
def every() -> dict[str, Item]:
    """Every item by id: drills by topic and level, then concepts."""
    drills = [
        Item(f"{NAPKIN}:{id}", NAPKIN, making.TOPIC_OF[one.quantity.id], one.level, one.quantity.title)
        for id, one in making.TEMPLATES.items()
    ]
    cards = [Item(f"{CONCEPT}:{key}", CONCEPT, one.trains, 0, one.title) for key, one in concepts.every().items()]
    return {item.id: item for item in (*drills, *cards)}


def pose(id: str, seed: int) -> Posed | None:
    """The item with the seed; None where a release has taken it away."""
    item = every().get(id)
    if item is None:
        return None
    key = id.partition(":")[2]
    if item.kind == NAPKIN:
        drill = making.drill(key, seed)
        return Posed(item, seed, making.fingerprint(drill), drill=drill)
    concept = concepts.get(key)
    return Posed(item, seed, concepts.fingerprint(concept), concept=concept) if concept else None


def outcome(posed: Posed, given: Given) -> Outcome:
    """The verdict on an answer. Raises practice's Slip, by field, for one that is none."""
    try:
        return _of_drill(posed.drill, given) if posed.drill else _of_concept(posed, given)
    except QuantityError as refused:
        raise FormSlip(str(refused), "typed") from None
    except NotAnAnswer as refused:
        raise FormSlip("", fields=refused.fields) from None


def _of_drill(drill: Drill, given: Given) -> Outcome:
    judged = judge(drill, (given.get("typed") or [""])[0])
    slip = judged.slip
    name, told = (slip.name, slip.told) if slip else ("", "")
    return Outcome(judged.verdict, judged.off, name, told)


def _of_concept(posed: Posed, given: Given) -> Outcome:
    assert posed.concept is not None
    judged = judge_concept(posed.concept, posed.seed, given)
    slip = judged.slip
    name, told = (slip.name, slip.told) if slip else ("", "")
    return Outcome(judged.verdict, None, name, told, judged.lines)


GAVE_UP = Outcome("gave-up")
