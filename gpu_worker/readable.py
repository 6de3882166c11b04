"""Numbers as a person reads them: three significant digits and a unit that fits."""

from __future__ import annotations

import math
from typing import Any

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SCALED = {"bit/s": "b/s", "B/s": "B/s", "B": "B"}


def say(value: Any, unit: str = "") -> str:
    """A value with its unit as text: `412 ms`, `400 Mb/s`, `14.7 MB`, `12 %`, `0.96`.

    Units: s, bit/s, B, B/s (scaled to a fitting prefix, decimal), share (printed in percent), per-million, ratio,
    count and text (printed bare). None and values that are no number print as a dash.
    """
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        return "–"
    if unit == "s":
        return _time(float(value))
    if unit in _SCALED:
        return _scaled(float(value), _SCALED[unit])
    if unit == "share":
        return f"{three(100 * value)} %"
    if unit == "per-million":
        return f"{three(value)} per million"
    return three(value) if unit in ("", "ratio", "count", "text") else f"{three(value)} {unit}"


def three(value: float) -> str:
    """Three significant digits without an exponent; whole numbers stay whole."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def _time(seconds: float) -> str:
    for size, name in _TIMES:
        if abs(seconds) >= size or name == "µs":
            return "0 s" if seconds == 0 else f"{three(seconds / size)} {name}"
    raise AssertionError("unreachable: the last unit takes every time")


def _scaled(value: float, unit: str) -> str:
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            return f"{three(value / size)} {prefix}{unit}"
    return f"{three(value)} {unit}"
