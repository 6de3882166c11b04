"""From typed words to an answer: `["ranks=1024", "size=140GB", "rate=400Gbit/s"]` in, named values with units out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from grader.quantities import QUANTITIES
from grader.quantities.base import Argument, Quantity, Result
from grader.units import Kind, QuantityError, format_quantity, parse_quantity

FLAGS = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}
BARE_NUMBER = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?")
MOST_VALUES = 100_000
MOST_SHOWN = 6  # of a list, in text; JSON has all


class QuestionError(ValueError):
    """A question that cannot be answered: one line with the argument and the repair."""


@dataclass(frozen=True)
class Answer:
    """What a quantity gave. `values` by the result's name: plain numbers in the unit of the result, words or lists."""

    quantity: Quantity
    values: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """`{"quantity", "results": {name: {"value", "unit"}}, "formula", "source"}`."""
        results = {r.name: {"value": self.values[r.name], "unit": r.unit} for r in self.quantity.results}
        told = self.quantity
        return {"quantity": told.id, "results": results, "formula": told.formula, "source": told.source}

    def lines(self) -> list[str]:
        """One line a result in readable units, with what it means."""
        shown = [(r.name, said(self.values[r.name], r), r.about) for r in self.quantity.results]
        wide, wider = (max(len(row[column]) for row in shown) for column in (0, 1))
        return [f"{name:{wide}}  {text:{wider}}  {about}".rstrip() for name, text, about in shown]


def named(wanted: str) -> Quantity:
    """The quantity of this id. Raises QuestionError with the nearest one."""
    if wanted not in QUANTITIES:
        raise QuestionError(f"{_not_known(wanted, QUANTITIES, 'no quantity')}; `napkin` alone lists them")
    return QUANTITIES[wanted]


def answer(quantity: Quantity, words: Sequence[str]) -> Answer:
    """`quantity` of `name=value` words. Raises QuestionError for what cannot be read or does not go together."""
    typed = _split(quantity, words)
    lacking = [a for a in quantity.arguments if a.name not in typed and quantity.is_required(a)]
    if lacking:
        raise QuestionError(f"{quantity.id}: {_missing(lacking)}, for example: napkin {quantity.id} {quantity.example}")
    given = {a.parameter: _read(quantity, a, typed[a.name]) for a in quantity.arguments if a.name in typed}
    try:
        computed = quantity.compute(**given)
    except ValueError as wrong:
        raise QuestionError(f"{quantity.id}: {_in_typed_names(quantity, str(wrong))}") from None
    return Answer(quantity, {result.name: result.of(computed) for result in quantity.results})


def said(value: Any, result: Result) -> str:
    """A value as a person reads it: `5.59 s`, `280 GB`, `no`, `[0 1] [2 3]`."""
    if isinstance(value, list):
        one = _ranks if result.kind == "ranks" else lambda item: format_quantity(item, cast(Kind, result.kind))
        shown = "  ".join(one(item) for item in value[:MOST_SHOWN])
        return shown if len(value) <= MOST_SHOWN else f"{shown}  … {len(value):,} in all"
    if result.kind == "flag":
        return "yes" if value else "no"
    if result.kind == "days":
        return f"{value:.3g} days"
    return str(value) if result.kind == "word" else format_quantity(value, cast(Kind, result.kind))


def _ranks(group: list[int]) -> str:
    if len(group) > 2 * MOST_SHOWN:
        return f"[{' '.join(map(str, group[:MOST_SHOWN]))} … {group[-1]}]"
    return f"[{' '.join(map(str, group))}]"


def _split(quantity: Quantity, words: Sequence[str]) -> dict[str, str]:
    names = [argument.name for argument in quantity.arguments]
    typed: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise QuestionError(f'{quantity.id}: "{word[:40]}" has no name; write name=value, here {quantity.usage}')
        if name not in names:
            raise QuestionError(f"{quantity.id}: {_not_known(name, names, 'no argument')}")
        if name in typed:
            raise QuestionError(f"{quantity.id}: {name}: is given twice; leave one out")
        typed[name] = text
    return typed


def _read(quantity: Quantity, argument: Argument, text: str) -> Any:
    try:
        if not argument.several:
            return _one(argument, text)
        parts = text.split(",")
        if len(parts) > MOST_VALUES:
            raise QuestionError(f"holds {len(parts):,} values; give at most {MOST_VALUES:,}")
        return [_one(argument, part) for part in parts]
    except (QuantityError, QuestionError) as refused:
        raise QuestionError(f"{quantity.id}: {argument.name}: {refused}") from None


def _one(argument: Argument, text: str) -> Any:
    if argument.kind == "words":
        return text
    if argument.kind == "flag":
        if text.lower() not in FLAGS:
            raise QuestionError(f'"{text[:40]}" is neither yes nor no; write {argument.name}=yes or {argument.name}=no')
        return FLAGS[text.lower()]
    if argument.kind == "choice":
        if text not in argument.choices:
            raise QuestionError(_not_known(text, argument.choices, "none of the choices"))
        return text
    if argument.bare_unit and BARE_NUMBER.fullmatch(text.strip()):
        text += argument.bare_unit
    return parse_quantity(text, argument.kind, argument.may_be_zero)


def _not_known(wrong: str, known: Iterable[str], what: str) -> str:
    names = list(known)
    near = difflib.get_close_matches(wrong, names, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(names)}"
    return f'"{wrong[:40]}" is {what}; {hint}'


def _missing(lacking: Sequence[Argument]) -> str:
    names = ", ".join(argument.name for argument in lacking)
    return f"{names} {'is' if len(lacking) == 1 else 'are'} missing ({'; '.join(a.about for a in lacking)})"


def _in_typed_names(quantity: Quantity, message: str) -> str:
    """A message of the physics, about parameters, in the names that were typed."""
    for argument in quantity.arguments:
        message = re.sub(rf"\b{argument.parameter}\b", argument.name, message)
    return message
