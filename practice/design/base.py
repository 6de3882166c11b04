"""What a kind of design exercise has to bring: its items, what a seed makes of them, what is asked and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from grader.design.base import Given, Judged


@dataclass(frozen=True)
class Item:
    """Something that can be started: a kind, or one level or question of it. `size` says how much there is to do."""

    id: str
    title: str
    size: str


@dataclass(frozen=True)
class Posed:
    """An item with its seed: what is asked and what is right about it. Never handed to a template as it is."""

    item: Item
    kind: Kind
    task: Any
    fingerprint: str


@dataclass(frozen=True)
class Typed:
    """What a form holds, and the sentences about what cannot be read in it, by field."""

    given: Given
    slips: Mapping[str, str]

    def value(self, name: str) -> str:
        return str((self.given.get(name) or [""])[0])

    def ticked(self, name: str) -> set[str]:
        return {str(value) for value in self.given.get(name) or ()}

    def error(self, name: str) -> str:
        return self.slips.get(name, "")


class Kind(Protocol):
    """One kind of exercise; a module of `practice.design.kinds` holds one as `KIND`.

    Its templates are `practice/design/<id>/ask.html` and `result.html`, with what `ask` and `result` return as `ask`
    and `result`. `ask` must read nothing that is right about the task.
    """

    id: str
    place: int  # among the kinds, as the five-day plan has them
    title: str
    day: str
    lead: str
    script: str  # of the form, below static/; empty for none
    chart: bool  # whether a result has one
    by_oneself: bool  # marked by the person, on a form of the result

    def items(self) -> Sequence[Item]: ...

    def pose(self, item: Item, seed: int) -> tuple[Any, str]:
        """The task of a seed and its fingerprint."""

    def ask(self, task: Any, typed: Typed) -> dict[str, Any]: ...

    def judge(self, task: Any, given: Given) -> Judged:
        """Raises grader.design.base.NotAnAnswer for a form that cannot be judged yet."""

    def model_answer(self, task: Any) -> dict[str, list[str]]:
        """A form that is right in every line: what is shown to one who asks to be shown."""

    def result(self, task: Any, given: Given, judged: Judged, marks: Sequence[str]) -> dict[str, Any]: ...
