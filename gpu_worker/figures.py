"""One look for every figure: Plotly figures as plain dicts whose colours and fonts are roles, not values.

A role is written `role:c1`, with an opacity `role:c1@0.4`. The page resolves roles from its own style sheet when it
draws, so that a figure follows the theme; `themed` does the same here, for a picture in a report or a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gpu_worker.readable import say

_SANS = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
_MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"

# The same values as the page's tokens; a test holds the two together.
THEMES: dict[str, dict[str, str]] = {
    "light": {
        "card": "#ffffff",
        "ink": "#14181c",
        "ink-2": "#444b54",
        "ink-3": "#5d6570",
        "line": "#d9dcdf",
        "line-2": "#e9ebed",
        "accent": "#0a6666",
        "bad": "#a3123a",
        "good": "#176436",
        "warn": "#8a4300",
        "c1": "#0072b2",
        "c2": "#e69f00",
        "c3": "#009e73",
        "c4": "#cc79a7",
        "c5": "#d55e00",
        "c6": "#56b4e9",
        "sans": _SANS,
        "mono": _MONO,
    },
    "dark": {
        "card": "#161a1e",
        "ink": "#e9ecef",
        "ink-2": "#b8bfc7",
        "ink-3": "#98a1aa",
        "line": "#2c3339",
        "line-2": "#21272c",
        "accent": "#56c8c1",
        "bad": "#ff8fab",
        "good": "#7fd6a0",
        "warn": "#f0b06a",
        "c1": "#56a8e0",
        "c2": "#f0c04a",
        "c3": "#3fc79a",
        "c4": "#e3a5c7",
        "c5": "#ff8a4c",
        "c6": "#9fd3f2",
        "sans": _SANS,
        "mono": _MONO,
    },
}

_ROLE = re.compile(r"^role:(?P<name>[a-z0-9-]+)(@(?P<opacity>0?\.\d+|1))?$")
ROW_PX = 38
CLEAR = "rgba(0,0,0,0)"


def themed(value: Any, theme: str) -> Any:
    """The same figure with every role replaced by the theme's colour or font; `theme` is `light` or `dark`."""
    if isinstance(value, dict):
        return {key: themed(item, theme) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [themed(item, theme) for item in value]
    match = _ROLE.match(value) if isinstance(value, str) else None
    if not match:
        return value
    colour = THEMES[theme][match["name"]]
    return _faded(colour, float(match["opacity"])) if match["opacity"] else colour


def _faded(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def frame(
    traces: Sequence[dict[str, Any]],
    *,
    alt: str,
    rows: int,
    x: dict[str, Any],
    y: dict[str, Any] | None = None,
    shapes: Iterable[dict[str, Any]] = (),
    annotations: Iterable[dict[str, Any]] = (),
    **layout: Any,
) -> dict[str, Any]:
    """A whole figure: traces in the common layout, `rows` rows high, with `alt` as its accessible name.

    The page draws the legend itself, from `layout.meta.legend`, so that it wraps at any width; `layout.meta.body_px` is
    the height without it.
    """
    body = rows * ROW_PX + 64
    named = [_legend_entry(trace) for trace in traces if trace.get("showlegend", "name" in trace)]
    return {
        "data": list(traces),
        "layout": {
            "meta": {"alt": alt, "body_px": body, "legend": named},
            "height": body + (28 if named else 0),
            "font": {"family": "role:sans", "size": 13, "color": "role:ink-2"},
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "margin": {"l": 8, "r": 14, "t": 8, "b": 8},
            "showlegend": bool(named),
            "legend": {
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "xref": "container",
                "y": 1,
                "yanchor": "top",
                "yref": "container",
                "traceorder": "normal",
                "itemclick": False,
                "itemdoubleclick": False,
                "font": {"size": 13},
                "bgcolor": CLEAR,
            },
            "hovermode": "closest",
            "hoverlabel": {
                "bgcolor": "role:card",
                "bordercolor": "role:line",
                "align": "left",
                "font": {"family": "role:sans", "size": 13, "color": "role:ink"},
            },
            "dragmode": False,
            "bargap": 0.34,
            "xaxis": x,
            "yaxis": y or names(),
            "shapes": list(shapes),
            "annotations": list(annotations),
            **layout,
        },
    }


def _legend_entry(trace: dict[str, Any]) -> dict[str, str]:
    stroke = str(trace["marker"].get("symbol", "")).startswith("line")
    shape = "stroke" if stroke else "bar" if trace["type"] == "bar" else "dot"
    return {"name": trace["name"], "colour": trace["marker"]["color"], "shape": shape}


def numbers(title: str, *, low: float | None = 0.0, high: float | None = None, **more: Any) -> dict[str, Any]:
    """A horizontal axis of numbers with few ticks, never dragged; `title` names the quantity and its unit."""
    span = {"range": [low, high]} if high is not None else {"rangemode": "tozero"}
    return {
        "title": {"text": title, "font": {"size": 13, "color": "role:ink-3"}, "standoff": 8},
        "automargin": True,
        "fixedrange": True,
        "gridcolor": "role:line-2",
        "zeroline": False,
        "nticks": 6,
        "tickfont": {"family": "role:mono", "size": 12},
        "separatethousands": True,
        **span,
        **more,
    }


def names(order: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A vertical axis of names, read from top to bottom in the given order."""
    # Without a range of its own the axis grows by half a row for every marker on it.
    span = {"range": [len(order) - 0.5, -0.5], "autorange": False}
    listed = {"categoryorder": "array", "categoryarray": list(order), **span} if order else {}
    return {
        "automargin": True,
        "fixedrange": True,
        "autorange": "reversed",
        "showgrid": False,
        "zeroline": False,
        "type": "category",
        "ticklen": 6,
        "tickcolor": CLEAR,
        "tickfont": {"family": "role:mono", "size": 12, "color": "role:ink"},
        **listed,
        **more,
    }


def bars(
    name: str, role: str, labels: Sequence[str], values: Sequence[float], said: Sequence[str], **more: Any
) -> dict[str, Any]:
    """One set of horizontal bars; `said` is what hovering prints for each."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(labels),
        "x": list(values),
        "hovertext": list(said),
        "hoverinfo": "text",
        "marker": {"color": f"role:{role}", "line": {"width": 0}},
        **more,
    }


def time_bars(name: str, role: str, labels: Sequence[str], seconds: Sequence[float]) -> dict[str, Any]:
    """One part of stacked steps: bars of milliseconds, each saying what it is and how long it took."""
    said = [f"{label}: {name} {say(value, 's')}" for label, value in zip(labels, seconds, strict=True)]
    return bars(name, role, labels, [1000 * value for value in seconds], said)


def written(texts: Sequence[str]) -> dict[str, Any]:
    """Keywords for `bars` that write a text at the end of each bar."""
    font = {"family": "role:mono", "size": 12, "color": "role:ink-2"}
    return {"text": list(texts), "textposition": "outside", "cliponaxis": False, "textfont": font}


def dots(
    name: str, role: str, labels: Sequence[str], values: Sequence[float], said: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Points on the rows of a named axis."""
    marker = {"color": f"role:{role}", "size": 9, "line": {"width": 1, "color": "role:card"}, **more.pop("marker", {})}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "y": list(labels),
        "x": list(values),
        "hovertext": list(said),
        "hoverinfo": "text",
        "marker": marker,
        **more,
    }


def ticks(
    name: str, labels: Sequence[str], values: Sequence[float], said: Sequence[str], *, size: int = 20
) -> dict[str, Any]:
    """A short upright stroke on each row: a nominal value or a median to hold a bar or a cloud of points against."""
    stroke = {"symbol": "line-ns-open", "size": size, "color": "role:ink", "line": {"width": 2, "color": "role:ink"}}
    return dots(name, "ink", labels, values, said, marker=stroke)


def upright(value: float, text: str, *, role: str = "ink") -> tuple[dict[str, Any], dict[str, Any]]:
    """A line across all rows at `value` with its name above it: a floor, a threshold."""
    line = {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": value,
        "x1": value,
        "y0": 0,
        "y1": 1,
        "layer": "above",
        "line": {"color": f"role:{role}", "width": 2, "dash": "dot"},
    }
    note = {
        "xref": "x",
        "yref": "paper",
        "x": value,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "center",
        "showarrow": False,
        "text": text,
        "font": {"size": 13, "color": f"role:{role}"},
    }
    return line, note


def level(value: float, text: str, *, role: str = "ink") -> tuple[dict[str, Any], dict[str, Any]]:
    """A line across the figure at the height `value`, with its name at the right end above it."""
    line = {
        "type": "line",
        "xref": "paper",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "layer": "above",
        "line": {"color": f"role:{role}", "width": 2, "dash": "dot"},
    }
    note = {
        "xref": "paper",
        "yref": "y",
        "x": 1,
        "y": value,
        "yanchor": "bottom",
        "xanchor": "right",
        "showarrow": False,
        "text": text,
        "font": {"size": 13, "color": f"role:{role}"},
    }
    return line, note


def matrix(
    down: Sequence[str],
    across: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    written: Sequence[Sequence[str]],
    said: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """Cells of shares from 0 to 1, each with its number in it: orange where low and blue where high, which those who
    see no red or green tell apart too. None leaves a cell empty.
    """
    return {
        "type": "heatmap",
        "y": list(down),
        "x": list(across),
        "z": [list(line) for line in shares],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "role:c5@0.85"], [0.5, "role:c2@0.5"], [1, "role:c6@0.35"]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "text": [list(line) for line in written],
        "texttemplate": "%{text}",
        "textfont": {"family": "role:mono", "size": 12, "color": "role:ink"},
        "hovertext": [list(line) for line in said],
        "hoverinfo": "text",
    }


def curve(
    name: str, role: str, across: Sequence[float], up: Sequence[float], said: Sequence[str], **line: Any
) -> dict[str, Any]:
    """A line through points of two numeric axes; `line` holds what Plotly's `line` takes beside a colour."""
    drawn = {"color": f"role:{role}", "width": 2, **line}
    marker = {"color": f"role:{role}", "symbol": "line-ew"}
    return {**_plane(name, across, up, said), "mode": "lines", "marker": marker, "line": drawn}


def cloud(name: str, role: str, across: Sequence[float], up: Sequence[float], said: Sequence[str]) -> dict[str, Any]:
    """Points between two numeric axes."""
    marker = {"color": f"role:{role}", "size": 9, "line": {"width": 1, "color": "role:card"}}
    return {**_plane(name, across, up, said), "mode": "markers", "marker": marker}


def _plane(name: str, across: Sequence[float], up: Sequence[float], said: Sequence[str]) -> dict[str, Any]:
    words = {"hovertext": list(said), "hoverinfo": "text"}
    return {"type": "scatter", "name": name, "x": list(across), "y": list(up), **words}
