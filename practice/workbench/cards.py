"""Evidence cards: pending ones with progress, shown ones as a pure function of the stored run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpu_worker.models import Evidence
from gpu_worker.probes import PROBES
from gpu_worker.readable import say
from practice import words
from practice.progress import Line, Progress
from practice.workbench import board
from practice.workbench.tokens import fresh
from practice.workbench.typed import Typed
from scenarios import evidence as service
from scenarios.causes import CAUSES
from scenarios.format import Scenario
from scenarios.palette import STEPS


@dataclass(frozen=True)
class Text:
    text: str
    numeric: bool = False


@dataclass(frozen=True)
class Labelled:
    label: str
    text: str
    numeric: bool = False


@dataclass(frozen=True)
class SeriesTable:
    caption: str
    columns: tuple[Labelled, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Predicted:
    causes: str
    sentence: str


@dataclass(frozen=True)
class Other:
    index: int
    title: str


@dataclass(frozen=True)
class Card:
    """One evidence on the page. The finding is no part of it."""

    id: str
    title: str
    purpose: str
    with_text: str
    price_min: float
    stops_job: bool
    shown: bool
    progress: Mapping[str, Any] | None = None
    event_index: int = -1
    at_s: float = 0.0
    live: bool = False
    against: str = ""
    reported_bad: bool = False
    caption: str = ""
    origin: str = ""
    note: str = ""
    figure: Mapping[str, Any] | None = None
    readings: tuple[Labelled, ...] = ()
    series: tuple[SeriesTable, ...] = ()
    provenance: tuple[Labelled, ...] = ()
    on_nccl: str = ""
    prediction: tuple[Predicted, ...] = ()
    rules_out: tuple[str, ...] = ()
    out_families: tuple[board.Family, ...] = ()
    others: tuple[Other, ...] = ()
    out_token: str = ""
    out_error: str = ""
    out_typed: str = ""


def card(
    row: Evidence, line: Line | None, scenario: Scenario, progress: Progress, typed: Typed, *, now: datetime
) -> Card:
    """Pending until its event is in the log, then whole."""
    about = STEPS[row.step]
    base: dict[str, Any] = {
        "id": str(row.pk),
        "title": board.step_title(row.step),
        "purpose": row.purpose,
        "with_text": words.with_text(row.with_params),
        "price_min": about.price_min,
        "stops_job": about.stops_job,
    }
    if line is None:
        return Card(**base, shown=False, progress=service.progress(row, now=now))
    return Card(**base, shown=True, **_reading(row), **_claims(row, line, scenario, progress, typed))


def _reading(row: Evidence) -> dict[str, Any]:
    view = service.view(row)
    return {
        "live": view.live,
        "reported_bad": row.reported_bad,
        "origin": view.caption,
        "note": row.note,
        "caption": next((series["caption"] for series in view.series.values() if series.get("caption")), ""),
        "figure": view.figure or None,
        "readings": tuple(Labelled(r["label"], say(r["value"], r["unit"])) for r in view.readings),
        "series": tuple(series_table(series) for series in view.series.values()),
        "provenance": tuple(provenance_line(name, value) for name, value in view.provenance.items()),
        "on_nccl": view.on_nccl,
    }


def _claims(row: Evidence, line: Line, scenario: Scenario, progress: Progress, typed: Typed) -> dict[str, Any]:
    mine = typed.of("rule_out") if typed.value("card") == str(row.pk) else Typed()
    return {
        "event_index": line.index,
        "at_s": line.at_s,
        "against": against(line),
        "prediction": prediction(line, progress),
        "rules_out": tuple(CAUSES[s.cause].title for s in progress.struck.values() if line.index in s.because),
        "out_families": board.standing(scenario, progress),
        "others": tuple(
            Other(o.index, board.step_title(o.body["step"])) for o in progress.steps if o.index != line.index
        ),
        "out_token": fresh(),
        "out_error": " ".join(filter(None, mine.slips.values())),
        "out_typed": mine.value("text"),
    }


def against(line: Line) -> str:
    """What a verification was held against, in words."""
    held = line.body.get("against") or []
    return " and ".join(words.AGAINST.get(one, one) for one in ([held] if isinstance(held, str) else held))


def variant_of(line: Line) -> tuple[str, dict[str, str]]:
    return line.body["step"], dict(line.body.get("with") or {})


def prediction(line: Line, progress: Progress) -> tuple[Predicted, ...]:
    """What was said of this step before it ran: the last prediction of the same variant that came before."""
    same = [said for said in progress.predictions if said.index < line.index and variant_of(said) == variant_of(line)]
    if not same:
        return ()
    sentences = PROBES[line.body["step"]].findings
    return tuple(
        Predicted(", ".join(CAUSES[c].title for c in e["causes"]), sentences.get(e["finding"], e["finding"]))
        for e in same[-1].body["expect"]
    )


def series_table(series: Mapping[str, Any]) -> SeriesTable:
    """A series as a table: units in the heads where a column has one prefix, values as people read them."""
    units = series["units"]
    columns = tuple(
        Labelled(pretty(name), "", unit != "text") for name, unit in zip(series["columns"], units, strict=True)
    )
    rows = tuple(
        tuple(
            Text(say(value, unit) if not isinstance(value, bool) else str(value), unit != "text")
            for value, unit in zip(row, units, strict=True)
        )
        for row in series["rows"]
    )
    return SeriesTable(series.get("caption", ""), columns, rows)


UNITS = {"_bits_per_s": "bit/s", "_bytes": "B", "_s": "s"}


def provenance_line(name: str, value: Any) -> Labelled:
    """A line of provenance: what its name says of the unit goes to the value."""
    for ending, unit in UNITS.items():
        if name.endswith(ending) and isinstance(value, int | float):
            return Labelled(pretty(name.removesuffix(ending)), say(value, unit))
    return Labelled(pretty(name), plain(value))


def pretty(name: str) -> str:
    return name.replace("_", " ")


def plain(value: Any) -> str:
    """A provenance value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{pretty(str(k))} {plain(v)}" for k, v in value.items())
    return "–" if value is None else str(value)
