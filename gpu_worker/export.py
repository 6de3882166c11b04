"""Readings and series of a probe result as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from gpu_worker.probes.base import ProbeResult, Series


def readings_as_dict(result: ProbeResult) -> dict[str, dict[str, Any]]:
    """{name: {value, unit, label}}, ready for JSON: a value that is no finite number becomes None."""
    return {name: {"value": _plain(r.value), "unit": r.unit, "label": r.label} for name, r in result.readings.items()}


def series_as_dict(result: ProbeResult) -> dict[str, dict[str, Any]]:
    """{name: {columns, units, rows, caption}}, ready for JSON."""
    return {
        name: {
            "columns": list(series.columns),
            "units": list(series.units),
            "rows": [[_plain(cell) for cell in row] for row in series.rows],
            "caption": series.caption,
        }
        for name, series in result.series.items()
    }


def as_dict(result: ProbeResult) -> dict[str, Any]:
    """Readings and series together. The finding is not part of a result."""
    return {"readings": readings_as_dict(result), "series": series_as_dict(result)}


def as_json(result: ProbeResult) -> str:
    """The same as JSON text, keys in a fixed order."""
    return json.dumps(as_dict(result), ensure_ascii=False, allow_nan=False, indent=2)


def readings_as_csv(result: ProbeResult) -> str:
    """Rows of name, label, value, unit."""
    rows = ((name, r.label, _plain(r.value), r.unit) for name, r in result.readings.items())
    return _csv(("name", "label", "value", "unit"), rows)


def series_as_csv(series: Series) -> str:
    """One row a line under a head of `column (unit)`; columns of text carry no unit."""
    head = [
        name if unit in ("text", "number", "") else f"{name} ({unit})"
        for name, unit in zip(series.columns, series.units, strict=True)
    ]
    return _csv(head, ([_plain(cell) for cell in row] for row in series.rows))


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
