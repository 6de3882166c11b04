"""A quantity declared once: what it is asked with, what it gives, its formula and source, and the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from grader.units import Kind

ArgumentKind: TypeAlias = Kind | Literal["choice", "flag", "words"]
ResultKind: TypeAlias = Kind | Literal["days", "word", "flag", "ranks"]

# How the functions of `grader.physics` end the names of parameters with a unit.
ENDINGS: dict[str, str] = {"time": "_s", "data": "_bytes", "rate": "_bits_per_s", "compute-rate": "_flop_per_s"}
UNITS: dict[ResultKind, str] = {
    "time": "s",
    "data": "B",
    "rate": "bit/s",
    "ratio": "ratio",
    "factor": "ratio",
    "count": "count",
    "compute": "FLOP",
    "compute-rate": "FLOP/s",
    "days": "d",
    "word": "text",
    "flag": "bool",
    "ranks": "ranks",
}


@dataclass(frozen=True)
class Argument:
    """One argument as people type it. It may be left out where the function's parameter has a default.

    `bare_unit` is what a number without a unit is taken in; `several` reads a list separated by commas; `feeds` names
    the function's parameter where it is not the name with the unit's ending.
    """

    name: str
    kind: ArgumentKind
    about: str
    choices: tuple[str, ...] = ()
    bare_unit: str = ""
    may_be_zero: bool = False
    several: bool = False
    feeds: str = ""

    @property
    def parameter(self) -> str:
        ending = ENDINGS.get(self.kind, "")
        return self.feeds or (self.name if self.name.endswith(ending) else self.name + ending)


@dataclass(frozen=True)
class Result:
    """One thing that a quantity gives: `field` of what the function returns, or all of it where that is empty."""

    name: str
    kind: ResultKind
    about: str
    field: str = ""

    @property
    def unit(self) -> str:
        return UNITS[self.kind]

    def of(self, computed: Any) -> Any:
        return getattr(computed, self.field) if self.field else computed


@dataclass(frozen=True)
class Quantity:
    """`compute` takes the arguments by their parameters' names and raises ValueError for what does not go together.

    `example` is words as one would type them; `note` says what the number leaves out or is mistaken for.
    """

    id: str
    title: str
    formula: str
    source: str
    compute: Callable[..., Any]
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    example: str
    note: str = ""

    def default_of(self, argument: Argument) -> Any:
        """The default of the argument's parameter, `inspect.Parameter.empty` where it has to be given."""
        return inspect.signature(self.compute).parameters[argument.parameter].default

    def is_required(self, argument: Argument) -> bool:
        return self.default_of(argument) is inspect.Parameter.empty

    @property
    def usage(self) -> str:
        """`ranks=… size=… [threshold=0.85]`."""
        return " ".join(self._usage_of(argument) for argument in self.arguments)

    def default_text(self, argument: Argument) -> str:
        """What an argument is if left out, as one would type it; empty where it has to be given."""
        default = self.default_of(argument)
        if default is inspect.Parameter.empty:
            return ""
        if default is None:
            return "optional"
        if isinstance(default, bool):
            return "yes" if default else "no"
        return default if isinstance(default, str) else f"{default:g}"

    def _usage_of(self, argument: Argument) -> str:
        if self.is_required(argument):
            return f"{argument.name}=…"
        default = self.default_text(argument)
        return f"[{argument.name}={'…' if default == 'optional' else default}]"
