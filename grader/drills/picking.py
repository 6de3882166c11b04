"""Tidy numbers from a seed: the same seed gives the same numbers for ever, whatever becomes of a random generator."""

from __future__ import annotations

import hashlib
from typing import TypeVar

from grader.drills.base import Tidy
from grader.units import Kind, format_quantity

Thing = TypeVar("Thing")


class Pick:
    """Draws for one drill. Every number that is drawn or told is kept in `given`, in order."""

    def __init__(self, drill: str, seed: int) -> None:
        self._seed = f"{drill}:{seed}"
        self._drawn = 0
        self.given: list[Tidy] = []

    def time(self, unit: str, *numbers: float) -> Tidy:
        return self._one("time", unit, numbers)

    def data(self, unit: str, *numbers: float) -> Tidy:
        return self._one("data", unit, numbers)

    def rate(self, unit: str, *numbers: float) -> Tidy:
        return self._one("rate", unit, numbers)

    def compute_rate(self, unit: str, *numbers: float) -> Tidy:
        return self._one("compute-rate", unit, numbers)

    def count(self, *numbers: float) -> Tidy:
        return self._one("count", "", numbers)

    def billions(self, *numbers: float) -> Tidy:
        return self._one("count", "billion", numbers)

    def millions(self, *numbers: float) -> Tidy:
        return self._one("count", "million", numbers)

    def percent(self, *numbers: float) -> Tidy:
        return self._one("ratio", "%", numbers)

    def factor(self, *numbers: float) -> Tidy:
        return self._one("factor", "", numbers)

    def word(self, *words: str) -> str:
        return self.of(*words)

    def of(self, *things: Thing) -> Thing:
        """One of what may be of any kind; no number of the question, and so not kept."""
        return things[self._index(len(things))]

    def told(self, kind: Kind, value: float) -> Tidy:
        """A computed value as the question tells it, rounded as a person would say it."""
        return self._keep(Tidy(kind, format_quantity(value, kind).removesuffix("×").strip()))

    def about(self, kind: Kind, value: float) -> Tidy:
        """The same to three figures, where a person would not count it out: 619,543 tokens a second."""
        return self.told(kind, float(f"{value:.3g}"))

    def hide(self, number: Tidy) -> Tidy:
        """A number that the question does not tell: mostly its answer."""
        self.given.remove(number)
        return number

    def _one(self, kind: Kind, unit: str, numbers: tuple[float, ...]) -> Tidy:
        number = numbers[self._index(len(numbers))]
        return self._keep(Tidy(kind, f"{number:.15g} {unit}".strip()))

    def _keep(self, number: Tidy) -> Tidy:
        self.given.append(number)
        return number

    def _index(self, among: int) -> int:
        self._drawn += 1
        digest = hashlib.sha256(f"{self._seed}:{self._drawn}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % among
