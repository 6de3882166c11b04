"""A measured figure beside the mark to reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`mark` is to be reached from above (`at_least`) or below; None where there is none."""

    group: str
    name: str
    value: float | None
    unit: str
    mark: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """`seen`, `missed`, `unknown` where it could not be measured, or empty where there is no mark."""
        if self.value is None:
            return "unknown"
        if self.mark is None:
            return ""
        return "seen" if (self.value >= self.mark) == self.at_least or self.value == self.mark else "missed"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def number(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{value:.4g} {unit}".strip()


def table(figures: Sequence[Figure]) -> str:
    """Lines of aligned columns: what, measured, the mark, whether it was reached."""
    rows = [("", "measured", "mark", "")]
    for one in figures:
        mark = "" if one.mark is None else f"{'≥' if one.at_least else '≤'} {number(one.mark, one.unit)}"
        rows.append((f"{one.group}: {one.name}", number(one.value, one.unit), mark, one.verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, int(share * len(ordered) + 0.999999) - 1))]
