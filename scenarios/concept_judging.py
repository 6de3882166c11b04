"""A concept as it is asked, and what an answer to it is worth. Pure: the same seed shuffles the same way for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from grader.drills.base import Slip
from grader.drills.judging import Verdict, judge
from grader.units import Kind, parse_quantity
from scenarios.concept_format import Concept, Number, slips_of


@dataclass(frozen=True)
class Lettered:
    """Something to tick, to place or to match, under a letter that says nothing of its answer."""

    letter: str
    text: str


@dataclass(frozen=True)
class Asked:
    """What may be shown before an answer. `lefts` are the sides to be matched, `options` all that can be chosen."""

    title: str
    question: str
    kind: str
    options: tuple[Lettered, ...] = ()
    lefts: tuple[Lettered, ...] = ()
    number_kind: Kind | None = None


@dataclass(frozen=True)
class Told:
    """One line of the result: what it is, what was said of it, what holds, and why."""

    text: str
    right: bool
    given: str
    holds: str
    why: str


@dataclass(frozen=True)
class ConceptJudged:
    """`share` of the lines that are right; the verdict is `right` where all are."""

    verdict: Verdict
    share: float
    lines: tuple[Told, ...] = ()
    slip: Slip | None = None


class NotAnAnswer(ValueError):
    """An answer that is not whole. `fields` maps a form's field to its sentence; "" is all of it."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(" ".join(fields.values()))
        self.fields = dict(fields)


def ask(concept: Concept, seed: int) -> Asked:
    """The exercise with its options shuffled by the seed, and nothing of its answer."""
    order = shuffled(concept, seed)
    texts = [_texts(concept)[at] for at in order]
    options = tuple(Lettered(letter, text) for letter, text in zip(ascii_lowercase, texts, strict=False))
    lefts = tuple(Lettered(letter, pair.left) for letter, pair in zip(ascii_lowercase, concept.match, strict=False))
    number_kind = concept.number.kind if concept.number else None
    return Asked(concept.title, concept.question, concept.kind, options, lefts, number_kind)


def shuffled(concept: Concept, seed: int) -> list[int]:
    """Which of the file's options stands where. An order to be found is never shown as it is right."""
    number = len(_texts(concept))
    order = sorted(range(number), key=lambda at: _rank(concept.key, seed, at))
    return order[1:] + order[:1] if concept.order and order == list(range(number)) else order


def judge_concept(concept: Concept, seed: int, given: Mapping[str, Sequence[str]]) -> ConceptJudged:
    """The verdict on a form: `choice` letters; `place-a` numbers; `match-a` letters; `typed` a number with its unit.

    Raises NotAnAnswer, or QuantityError for a number that cannot be read.
    """
    if concept.number:
        judged = judge(_NumberAsked(concept.number), (given.get("typed") or [""])[0])
        return ConceptJudged(judged.verdict, float(judged.verdict == "right"), slip=judged.slip)
    lines = _JUDGES[concept.kind](concept, shuffled(concept, seed), given)
    share = sum(line.right for line in lines) / len(lines)
    return ConceptJudged("right" if share == 1 else "wrong", share, lines)


class _NumberAsked:
    """A concept's number as a drill's judge reads it."""

    def __init__(self, number: Number) -> None:
        self.kind: Kind = number.kind
        self.answer = parse_quantity(number.value, number.kind)
        self.tolerance, self.exact = number.tolerance, False
        self.slips = slips_of(number)


def _judge_choice(concept: Concept, order: list[int], given: Mapping[str, Sequence[str]]) -> tuple[Told, ...]:
    letters = ascii_lowercase[: len(order)]
    ticked = [letter for letter in given.get("choice", ()) if letter in letters]
    if not ticked:
        raise NotAnAnswer({"": "Tick at least one: none of them is never the answer."})
    said = {True: "holds", False: "does not hold"}
    lines = []
    for letter, at in zip(letters, order, strict=True):
        option = concept.choice[at]
        given_here = letter in ticked
        lines.append(Told(option.text, given_here == option.right, said[given_here], said[option.right], option.why))
    return tuple(lines)


def _judge_order(concept: Concept, order: list[int], given: Mapping[str, Sequence[str]]) -> tuple[Told, ...]:
    places: dict[int, int] = {}
    slips: dict[str, str] = {}
    for letter, at in zip(ascii_lowercase, order, strict=False):
        field = f"place-{letter}"
        place = _whole((given.get(field) or [""])[0], len(order))
        if place is None:
            slips[field] = f"Give it a place from 1 to {len(order)}."
        elif place in places.values():
            slips[field] = f"Place {place} is taken: each has one of its own."
        else:
            places[at] = place
    if slips:
        raise NotAnAnswer(slips)
    return tuple(
        Told(item.text, places[at] == at + 1, f"place {places[at]}", f"place {at + 1}", item.why)
        for at, item in enumerate(concept.order)
    )


def _judge_match(concept: Concept, order: list[int], given: Mapping[str, Sequence[str]]) -> tuple[Told, ...]:
    chosen: dict[int, int] = {}
    slips: dict[str, str] = {}
    letters = ascii_lowercase[: len(order)]
    for at, letter in enumerate(letters):
        field = f"match-{letter}"
        choice = (given.get(field) or [""])[0]
        if len(choice) == 1 and choice in letters:
            chosen[at] = order[letters.index(choice)]
        else:
            slips[field] = "Choose what belongs to it."
    if slips:
        raise NotAnAnswer(slips)
    return tuple(
        Told(pair.left, chosen[at] == at, concept.match[chosen[at]].right, pair.right, pair.why)
        for at, pair in enumerate(concept.match)
    )


_JUDGES = {"choice": _judge_choice, "order": _judge_order, "match": _judge_match}


def _texts(concept: Concept) -> list[str]:
    """What is shuffled: options, items, or the right sides of pairs."""
    ticked, placed = (option.text for option in concept.choice), (item.text for item in concept.order)
    return [*ticked, *placed, *(pair.right for pair in concept.match)]


def _rank(key: str, seed: int, at: int) -> bytes:
    return hashlib.sha256(f"{key}:{seed}:{at}".encode()).digest()


def _whole(text: str, most: int) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 and 1 <= int(text) <= most else None
