"""Figures of the scorecard: pure functions of what the grader returned, in the roles of the page's theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_worker import figures

ROWS = 6
SHOWN_FROM = 0.12  # a cause that never rose above this share stays in the table only
ROLES = ("c2", "c3", "c4", "c5", "c6")


def belief(
    moments: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]], true: str, causes: Mapping[str, Any]
) -> dict[str, Any]:
    """The posterior of each cause that was ever in play after each step; the true one strongest."""
    if not moments:
        return {}
    heads = [f"{at}. {moment['title']}" if at else moment["title"] for at, moment in enumerate(moments)]
    peaks = {cause: max(m["posterior"].get(cause, 0.0) for m in moments) for cause in moments[0]["posterior"]}
    others = sorted(
        (c for c, peak in peaks.items() if c != true and peak >= SHOWN_FROM and c in causes), key=lambda c: -peaks[c]
    )
    drawn = [
        (true, "c1", 3.0),
        *((cause, ROLES[at % len(ROLES)], 1.5) for at, cause in enumerate(others[: len(ROLES)])),
    ]
    traces = [
        line(causes[cause].title, role, width, heads, [100 * m["posterior"].get(cause, 0.0) for m in moments])
        for cause, role, width in drawn
    ]
    share = f"{100 * moments[-1]['posterior'].get(true, 0.0):.0f} %"
    alt = (
        f"Posterior of each cause after {len(moments) - 1} steps; the true cause, {causes[true].title}, ends at {share}"
    )
    x = {
        "type": "category",
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "tickangle": 0,
        "tickfont": {"size": 12},
        "categoryarray": heads,
        "ticktext": [wrapped(h) for h in heads],
        "tickvals": heads,
    }
    y = figures.numbers("posterior, per cent", low=0, high=102, nticks=5)
    return figures.frame(traces, alt=alt, rows=ROWS, x=x, y=y)


def line(name: str, role: str, width: float, heads: list[str], shares: list[float]) -> dict[str, Any]:
    said = [f"{name}: {share:.0f} % after {head}" for share, head in zip(shares, heads, strict=True)]
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "x": heads, "y": shares,
        "hovertext": said, "hoverinfo": "text",
        "line": {"color": f"role:{role}", "width": width}, "marker": {"color": f"role:{role}", "size": 5 + width},
    }  # fmt: skip


def wrapped(text: str, longest: int = 16) -> str:
    """A tick label on several short lines."""
    lines: list[str] = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= longest:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)
