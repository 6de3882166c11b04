"""Quantities as people type them: `5.6 s`, `280 GB`, `400 Gb/s`, `93 %`.

The registry is our own (pint, started empty): the stock one reads `400 Gb/s` as gilberts and `5,6 s` as 56 s, and
evaluates powers. Here a quantity is one number and one unit token; its kind is checked apart from its dimension.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Literal

import pint

Kind = Literal["time", "data", "rate", "ratio", "count"]

MAX_CHARACTERS = 64
LARGEST = 1e30  # far past any cluster; keeps every later product finite
SMALLEST = 1e-18
LARGEST_PLAIN_RATIO = 10.0  # `93` for a share is far more likely a forgotten per cent sign than 93 times

BASE_UNIT: dict[Kind, str] = {
    "time": "second",
    "data": "byte",
    "rate": "bit_per_second",
    "ratio": "one",
    "count": "one",
}
EXAMPLE: dict[Kind, str] = {
    "time": "5.6 s",
    "data": "280 GB",
    "rate": "400 Gb/s",
    "ratio": "93 % or 0.93",
    "count": "1024",
}
MEANING: dict[str, str] = {
    "time": "a time",
    "data": "an amount of data",
    "rate": "a rate",
    "ratio": "a ratio",
    "count": "a number",
}

DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
TIMES = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
    "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
RATIOS = {"%": 0.01, "percent": 0.01, "x": 1.0, "×": 1.0}
PER_SECOND = ("/s", "/sec", "/second", "ps")
AMBIGUOUS = re.compile(r"^[mgtp]b(/s|/sec|/second)?$")  # `280 gb` is eight times off for one of its two readers

NUMBER = re.compile(r"^(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\s\d].*)?$")


class QuantityError(ValueError):
    """A quantity that cannot be read; the message is a sentence for the person who typed it."""


def _data_units() -> dict[str, tuple[str, float]]:
    """Every spelling of bits and bytes, as (base unit, factor in that unit)."""
    units: dict[str, tuple[str, float]] = {}
    for prefix, factor in {**DECIMAL, **BINARY}.items():
        for spelling in {prefix, prefix.lower(), prefix.upper()} if len(prefix) < 2 else {prefix}:
            for bit in ("b", "bit", "bits"):
                units[spelling + bit] = ("bit", factor)
            for byte in ("B", "byte", "bytes"):
                units[spelling + byte] = ("byte", factor)
    return units


@cache
def registry() -> pint.UnitRegistry:
    """An empty pint registry with seconds, bits, bytes, bits a second and plain numbers; nothing else."""
    units: pint.UnitRegistry = pint.UnitRegistry(None, cache_folder=None)
    for line in (
        "second = [time] = s",
        "bit = [data] = b",
        "byte = 8 bit = B",
        "bit_per_second = [rate] = bps",
        "byte_per_second = 8 bit_per_second = Bps",
        "one = []",
    ):
        units.define(line)
    return units


@cache
def _tokens() -> dict[str, tuple[str, str, float]]:
    """Unit token -> (kind, registry unit, factor in that unit)."""
    tokens: dict[str, tuple[str, str, float]] = {t: ("time", "second", f) for t, f in TIMES.items()}
    tokens |= {t: ("ratio", "one", f) for t, f in RATIOS.items()}
    for token, (unit, factor) in _data_units().items():
        tokens[token] = ("data", unit, factor)
        for ending in PER_SECOND:
            tokens[token + ending] = ("rate", f"{unit}_per_second", factor)
    return tokens


def parse_quantity(text: str, kind: Kind) -> float:
    """The value of `text` in SI: seconds, bytes, bits/s, or a plain number for a ratio or a count.

    Sizes are decimal unless written KiB, MiB, GiB. A rate is one token (`Gb/s`, `Gbit/s`, `Gbps`, `GB/s`), or bits
    alone (`400Mbit`, as `tc` writes it). Raises QuantityError with a sentence that says what to type.
    """
    cleaned = _clean(text, kind)
    match = NUMBER.match(cleaned)
    if not match:
        raise QuantityError(f"I cannot read “{_shorten(cleaned)}”. {_hint(kind)}")
    number, token = float(match["number"]), (match["unit"] or "").strip()
    _check_number(number, match["number"], kind)
    value = _convert(number, token, kind)
    if not SMALLEST <= value <= LARGEST:
        raise QuantityError(f"“{_shorten(cleaned)}” is outside anything a cluster has. {_hint(kind)}")
    return value


def format_quantity(value: float, kind: Kind) -> str:
    """SI value as a person would write it, three figures: 5.6 s, 280 GB, 400 Gb/s, 93 %."""
    if kind == "ratio":
        return f"{value * 100:.3g} %"
    if kind == "count":
        return f"{value:.6g}"
    if kind == "time":
        steps: list[tuple[str, float]] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)]
    else:
        ending = "B" if kind == "data" else "b/s"
        steps = [(prefix + ending, factor) for prefix, factor in reversed(DECIMAL.items())]
    name, factor = next(((n, f) for n, f in steps if abs(value) >= f), steps[-1])
    return f"{value / factor:.3g} {name}" if abs(value / factor) < 1000 else f"{value / factor:,.0f} {name}"


def _clean(text: str, kind: Kind) -> str:
    if not isinstance(text, str):
        raise QuantityError(f"A quantity is text. {_hint(kind)}")
    # Before anything else: a pasted file must cost nothing.
    if len(text) > MAX_CHARACTERS:
        raise QuantityError(f"That is {len(text):,} characters; a quantity has at most {MAX_CHARACTERS}. {_hint(kind)}")
    cleaned = text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2212", "-").strip().lstrip("~≈").strip()
    if not cleaned:
        raise QuantityError(f"Nothing was typed. {_hint(kind)}")
    if "," in cleaned:
        raise QuantityError(f"Write a decimal point and no thousands separator: {EXAMPLE[kind]}, not “{cleaned}”.")
    if "**" in cleaned or "^" in cleaned:
        raise QuantityError(f"Powers are not read; write the number out, or as 2.8e11. {_hint(kind)}")
    return cleaned


def _check_number(number: float, written: str, kind: Kind) -> None:
    if not math.isfinite(number):
        raise QuantityError(f"{written} is larger than any number I can hold. {_hint(kind)}")
    if number <= 0:
        raise QuantityError(f"{MEANING[kind].capitalize()} must be more than zero, and {written} is not. {_hint(kind)}")


def _convert(number: float, token: str, kind: Kind) -> float:
    if not token:
        return _plain(number, kind)
    if AMBIGUOUS.match(token):
        prefix = token[0].upper()
        raise QuantityError(
            f"Is “{token}” bits or bytes? Write {prefix}b{token[2:]} for bits, {prefix}B{token[2:]} for bytes."
        )
    found = _tokens().get(token)
    if not found:
        raise QuantityError(f"I do not know the unit “{_shorten(token)}”. {_hint(kind)}")
    unit_kind, unit, factor = found
    if kind == "rate" and unit == "bit":
        unit_kind, unit = "rate", "bit_per_second"
    if unit_kind != kind:
        raise QuantityError(
            f"{number:g} {token} is {MEANING[unit_kind]}, and {MEANING[kind]} is asked for. {_hint(kind)}"
        )
    return float(registry().Quantity(number * factor, unit).to(BASE_UNIT[kind]).magnitude)


def _plain(number: float, kind: Kind) -> float:
    if kind not in ("ratio", "count"):
        raise QuantityError(f"{number:g} of what? Write the unit too, for example {EXAMPLE[kind]}.")
    if kind == "ratio" and number > LARGEST_PLAIN_RATIO:
        raise QuantityError(f"Is {number:g} a per cent? Write {number:g} %, or the plain ratio, for example 0.93.")
    return number


def _hint(kind: Kind) -> str:
    return f"Write {MEANING[kind]} like {EXAMPLE[kind]}."


def _shorten(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"
