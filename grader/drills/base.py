"""What a drill is made of: tidy numbers, a question, the slips that people make in it, and how its answer is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from grader.quantities.base import Quantity
from grader.units import Kind, format_quantity, parse_quantity

Level: TypeAlias = Literal[1, 2, 3]
LEVELS: tuple[Level, ...] = (1, 2, 3)
DAY_S = 86400.0


class Tidy(float):
    """A number as the question writes it: `f"{size}"` is `140 GB`, and to arithmetic it is bytes."""

    kind: Kind
    text: str

    def __new__(cls, kind: Kind, text: str) -> Tidy:
        number = super().__new__(cls, parse_quantity(text, kind, may_be_zero=True))
        number.kind, number.text = kind, text
        return number

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return float.__format__(self, spec) if spec else self.text


@dataclass(frozen=True)
class Slip:
    """An answer that a known mistake gives. `id` is the mistake's, the same in every drill where it can be made."""

    id: str
    name: str
    told: str
    value: float


@dataclass(frozen=True)
class Sketch:
    """What one template makes of its picks. `steps` lead from what is given to the answer, a sentence each.

    `exact` asks for a whole number that nothing is rounded in.
    """

    text: str
    kind: Kind
    answer: float
    steps: tuple[str, ...]
    slips: tuple[Slip, ...] = ()
    exact: bool = False


@dataclass(frozen=True)
class Drill:
    """One question, whole: what is asked, what is right and within what, and what is shown afterwards.

    `args` are those with which the quantity's own function was asked: at level 3 the answer is among them.
    """

    quantity: str
    level: Level
    seed: int
    topic: str
    title: str
    text: str
    given: tuple[Tidy, ...]
    kind: Kind
    answer: float
    tolerance: float
    exact: bool
    slips: tuple[Slip, ...]
    steps: tuple[str, ...]
    formula: str
    source: str
    args: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.quantity}/{self.level}"

    @property
    def answer_text(self) -> str:
        return format_quantity(self.answer, self.kind)


class Law:
    """A quantity's own function by the names of its arguments. The first call is the drill's; later ones are slips'."""

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity
        self.args: dict[str, Any] = {}

    def __call__(self, **args: Any) -> dict[str, Any]:
        self.args = self.args or args
        return figures(self.quantity, **args)


def figures(quantity: Quantity, **args: Any) -> dict[str, Any]:
    """The results of a quantity by name, in SI; days are seconds, as everywhere in a drill."""
    parameters = {argument.name: argument.parameter for argument in quantity.arguments}
    computed = quantity.compute(**{parameters[name]: value for name, value in args.items()})
    found = {result.name: result.of(computed) for result in quantity.results}
    return {r.name: found[r.name] * DAY_S if r.kind == "days" else found[r.name] for r in quantity.results}
