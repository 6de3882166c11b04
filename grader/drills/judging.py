"""What a typed answer to a drill is worth: right, a slip that has a name, or wrong. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from grader.drills.base import Slip
from grader.drills.making import SLIP_WITHIN
from grader.drills.slips import slip
from grader.units import Kind, QuantityError, parse_quantity

Verdict = Literal["right", "slip", "wrong"]
PREFIXES = tuple(1000.0**power for power in (-3, -2, -1, 1, 2, 3))
BITS = 8.0


class Asked(Protocol):
    """What judging needs of a question with a number for an answer."""

    @property
    def kind(self) -> Kind: ...
    @property
    def answer(self) -> float: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def exact(self) -> bool: ...
    @property
    def slips(self) -> Sequence[Slip]: ...


@dataclass(frozen=True)
class Judged:
    """`off` is the answer over the right one, less 1. `slip` is set where the verdict is `slip`."""

    verdict: Verdict
    value: float
    off: float
    slip: Slip | None = None


def judge(asked: Asked, typed: str) -> Judged:
    """The verdict on what was typed. Raises QuantityError, with a sentence, for what is no answer of this kind."""
    value = parse_quantity(typed, asked.kind)
    if asked.exact and abs(value - round(value)) > 1e-9:
        raise QuantityError(f"A whole number is asked for, and {value:g} is none.")
    off = value / asked.answer - 1
    if _is_right(asked, value):
        return Judged("right", value, off)
    found = _slip(asked, value)
    return Judged("slip" if found else "wrong", value, off, found)


def _is_right(asked: Asked, value: float) -> bool:
    return abs(value - asked.answer) < 0.5 if asked.exact else _near(value, asked.answer, asked.tolerance)


def _slip(asked: Asked, value: float) -> Slip | None:
    """The nearest named slip; else one that can be made in any drill."""
    if asked.exact:
        near = [one for one in asked.slips if abs(value - one.value) < 0.5]
    else:
        near = [one for one in asked.slips if _near(value, one.value, SLIP_WITHIN)]
    if near:
        return min(near, key=lambda one: abs(value / one.value - 1))
    if asked.exact or asked.kind == "ratio":
        return None
    if asked.kind in ("data", "rate") and any(_near(value, asked.answer * k, SLIP_WITHIN) for k in (BITS, 1 / BITS)):
        return slip("bits-for-bytes", value)
    if any(_near(value, asked.answer * k, asked.tolerance) for k in PREFIXES):
        return slip("prefix", value)
    return None


def _near(value: float, other: float, within: float) -> bool:
    """Within a share of the other, either way: twice as much is as far off as half."""
    return value <= other * (1 + within) and other <= value * (1 + within)
