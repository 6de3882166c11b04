"""Quantities as people type them: `5.6 s`, `280 GB`, `400 Gb/s`, `93 %`.

The registry is our own (pint, started empty): the stock one reads `400 Gb/s` as gilberts and `5,6 s` as 56 s, and
evaluates powers. Here a quantity is one number and one unit token; its kind is checked apart from its dimension.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any, Literal

import pint

# `ratio` is a share, read and written in per cent; `factor` is how many times, read and written as it is.
Kind = Literal["time", "data", "rate", "ratio", "factor", "count", "compute", "compute-rate"]

MAX_CHARACTERS = 64
LARGEST = 1e30  # far past any cluster; keeps every later product finite
SMALLEST = 1e-18
LARGEST_PLAIN_RATIO = 10.0  # `93` for a share is far more likely a forgotten per cent sign than 93 times

BASE_UNIT: dict[Kind, str] = {
    "time": "second",
    "data": "byte",
    "rate": "bit_per_second",
    "ratio": "one",
    "factor": "one",
    "count": "one",
    "compute": "flop",
    "compute-rate": "flop_per_second",
}
EXAMPLE: dict[Kind, str] = {
    "time": "5.6 s",
    "data": "280 GB",
    "rate": "400 Gb/s",
    "ratio": "93 % or 0.93",
    "factor": "1.34",
    "count": "1024 or 70B",
    "compute": "1.5 EFLOP",
    "compute-rate": "312 TFLOP/s",
}
MEANING: dict[str, str] = {
    "time": "a time",
    "data": "an amount of data",
    "rate": "a rate",
    "ratio": "a ratio",
    "factor": "a factor",
    "count": "a number",
    "compute": "an amount of computing",
    "compute-rate": "a speed of computing",
}

DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
LARGER = {"E": 1e18, "Z": 1e21, "Y": 1e24}  # of operations; nobody has so many bytes
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
# Only where a number is asked for: elsewhere B is a byte.
MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9, "T": 1e12, "trillion": 1e12}
PER_SECOND = ("/s", "/sec", "/second", "ps")
AMBIGUOUS = re.compile(r"^[mgtp]b(/s|/sec|/second)?$")  # `280 gb` is eight times off for one of its two readers

COUNTED_OUT_BELOW = 1e6
# (name, factor, from which size). 508 s and 90 min are read more easily than 8.47 min and 1.5 h.
TIME_STEPS = (
    ("d", 86400.0, 2 * 86400.0),
    ("h", 3600.0, 2 * 3600.0),
    ("min", 60.0, 10 * 60.0),
    *((name, TIMES[name], TIMES[name]) for name in ("s", "ms", "µs", "ns")),
)


def _prefixed(unit: str, prefixes: dict[str, float]) -> tuple[tuple[str, float, float], ...]:
    return tuple((prefix + unit, factor, factor) for prefix, factor in reversed(prefixes.items()))


STEPS: dict[Kind, tuple[tuple[str, float, float], ...]] = {
    "time": TIME_STEPS,
    "data": _prefixed("B", DECIMAL),
    "rate": _prefixed("b/s", DECIMAL),
    "compute": _prefixed("FLOP", {**DECIMAL, **LARGER}),
    "compute-rate": _prefixed("FLOP/s", {**DECIMAL, **LARGER}),
    "count": tuple((name, MULTIPLES[name], MULTIPLES[name]) for name in ("trillion", "billion", "million")),
}

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
def registry() -> pint.UnitRegistry[Any]:
    """An empty pint registry with seconds, bits, bytes, bits a second, FLOP and plain numbers; nothing else."""
    units: pint.UnitRegistry[Any] = pint.UnitRegistry(None)
    for line in (
        "second = [time]",
        "bit = [data]",
        "byte = 8 bit",
        "bit_per_second = [rate]",
        "byte_per_second = 8 bit_per_second",
        "flop = [compute]",
        "flop_per_second = [compute_rate]",
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
    for prefix, factor in {**DECIMAL, **LARGER}.items():
        for flop in ("FLOP", "FLOPs", "flop", "flops"):
            tokens[prefix + flop] = ("compute", "flop", factor)
            tokens[prefix + flop + "/s"] = ("compute-rate", "flop_per_second", factor)
        tokens[prefix + "FLOPS"] = ("compute-rate", "flop_per_second", factor)
    return tokens


# What people write for a rate although it names an amount: bits as `tc` does, FLOPs as data sheets do.
ALSO_A_RATE = {("rate", "bit"): "bit_per_second", ("compute-rate", "flop"): "flop_per_second"}


def parse_quantity(text: str, kind: Kind, may_be_zero: bool = False) -> float:
    """The value of `text` in SI: seconds, bytes, bits/s, FLOP, FLOP/s, or a plain number for the other kinds.

    Sizes are decimal unless written KiB, MiB, GiB. A rate is one token (`Gb/s`, `Gbit/s`, `Gbps`, `GB/s`), or bits
    alone (`400Mbit`, as `tc` writes it); a number may be `70B` or `70 billion`. Zero is refused unless it
    `may_be_zero`. Raises QuantityError with a sentence that says what to type.
    """
    cleaned = _clean(text, kind)
    match = NUMBER.match(cleaned)
    if not match:
        raise QuantityError(f"I cannot read “{_shorten(cleaned)}”. {_hint(kind)}")
    number, token = float(match["number"]), (match["unit"] or "").strip()
    _check_number(number, match["number"], kind, may_be_zero)
    value = _convert(number, token, kind)
    if not (may_be_zero and value == 0) and not SMALLEST <= value <= LARGEST:
        raise QuantityError(f"“{_shorten(cleaned)}” is outside anything a cluster has. {_hint(kind)}")
    return value


def format_quantity(value: float, kind: Kind) -> str:
    """SI value as a person would write it, three figures: 5.6 s, 280 GB, 400 Gb/s, 93 %, 1.34 ×, 175 billion."""
    if kind == "ratio":
        return f"{value * 100:.3g} %"
    if kind == "factor":
        return f"{value:.4g} ×"
    if kind == "count" and abs(value) < COUNTED_OUT_BELOW:
        return f"{value:.6g}"
    name, factor = _readable_unit(value, kind)
    scaled = value / factor
    if abs(scaled) < 1000:
        return f"{scaled:.3g} {name}"
    return f"{scaled:,.0f} {name}" if abs(scaled) < COUNTED_OUT_BELOW else f"{scaled:.3g} {name}"


def _readable_unit(value: float, kind: Kind) -> tuple[str, float]:
    """(name, factor) of the largest unit that the value reaches once it is rounded: 999.7 MB is 1 GB, not 1e+03 MB."""
    steps = STEPS[kind]
    for name, factor, least in steps:
        if abs(float(f"{value / factor:.3g}")) * factor >= least or (value == 0 and factor == 1):
            return name, factor
    return steps[-1][:2]


def _clean(text: str, kind: Kind) -> str:
    if not isinstance(text, str):
        raise QuantityError(f"A quantity is text. {_hint(kind)}")
    # Before anything else: a pasted file must cost nothing.
    if len(text) > MAX_CHARACTERS:
        raise QuantityError(f"That is {len(text):,} characters; a quantity has at most {MAX_CHARACTERS}. {_hint(kind)}")
    cleaned = text.replace("\u2212", "-").strip().lstrip("~≈").strip()
    if not cleaned:
        raise QuantityError(f"Nothing was typed. {_hint(kind)}")
    if "," in cleaned:
        raise QuantityError(f"Write a decimal point and no thousands separator: {EXAMPLE[kind]}, not “{cleaned}”.")
    if "**" in cleaned or "^" in cleaned:
        raise QuantityError(f"Powers are not read; write the number out, or as 2.8e11. {_hint(kind)}")
    return cleaned


def _check_number(number: float, written: str, kind: Kind, may_be_zero: bool) -> None:
    if not math.isfinite(number):
        raise QuantityError(f"{written} is larger than any number I can hold. {_hint(kind)}")
    if number < 0 or (number == 0 and not may_be_zero):
        least = "zero or more" if may_be_zero else "more than zero"
        raise QuantityError(f"{MEANING[kind].capitalize()} must be {least}, and {written} is not. {_hint(kind)}")


def _convert(number: float, token: str, kind: Kind) -> float:
    if not token:
        return _plain(number, kind)
    if kind == "count" and token in MULTIPLES:
        return number * MULTIPLES[token]
    if AMBIGUOUS.match(token):
        prefix = token[0].upper()
        raise QuantityError(
            f"Is “{token}” bits or bytes? Write {prefix}b{token[2:]} for bits, {prefix}B{token[2:]} for bytes."
        )
    found = _tokens().get(token)
    if not found:
        raise QuantityError(f"I do not know the unit “{_shorten(token)}”. {_hint(kind)}")
    unit_kind, unit, factor = found
    if (kind, unit) in ALSO_A_RATE:
        unit_kind, unit = kind, ALSO_A_RATE[kind, unit]
    if unit_kind != ("ratio" if kind == "factor" else kind):
        raise QuantityError(
            f"{number:g} {token} is {MEANING[unit_kind]}, and {MEANING[kind]} is asked for. {_hint(kind)}"
        )
    return float(registry().Quantity(number * factor, unit).to(BASE_UNIT[kind]).magnitude)


def _plain(number: float, kind: Kind) -> float:
    if kind not in ("ratio", "factor", "count"):
        raise QuantityError(f"{number:g} of what? Write the unit too, for example {EXAMPLE[kind]}.")
    if kind == "ratio" and number > LARGEST_PLAIN_RATIO:
        raise QuantityError(f"Is {number:g} a per cent? Write {number:g} %, or the plain ratio, for example 0.93.")
    return number


def _hint(kind: Kind) -> str:
    return f"Write {MEANING[kind]} like {EXAMPLE[kind]}."


def _shorten(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"
