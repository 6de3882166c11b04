"""The alert builder: what is watched, what was written, and what an alert does on recorded runs.

Before the close it is tried on healthy runs alone: how often it would ring for nothing. What it catches would tell how
each metric moved under the hidden cause, which nobody measured for it; that is drawn after the close.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_high
from typing import Any

from gpu_worker import figures
from gpu_worker.metrics import METRICS
from gpu_worker.readable import say, three
from grader.alerts import BackTest, Stream, Trial, back_test, rises
from practice import alerts
from practice.alerts import Written
from practice.errors import Slip
from practice.progress import Line
from practice.workbench.typed import Typed
from scenarios import alert_trials
from scenarios.instances import Instance

ROWS = 5
HEADROOM = 1.15


@dataclass(frozen=True)
class Watched:
    """A metric to choose: which way is worse and how its threshold is written."""

    id: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class StreamLine:
    """One rank, link or the whole job over a history, for the table beside the figure."""

    of: str
    points: int
    typical: str
    worst: str
    alarms: int


@dataclass(frozen=True)
class Tried:
    """One alert on recorded runs: a sentence, the drawn history, and its table."""

    alert: str
    sentence: str
    figure: dict[str, Any]
    lines: tuple[StreamLine, ...]


@dataclass(frozen=True)
class Fields:
    """The form, as typed."""

    metrics: tuple[Watched, ...]
    threshold: str
    window: str
    hits: str
    errors: Mapping[str, str]


@dataclass(frozen=True)
class Afterwards:
    """The debrief's part: what was written, on the recorded incidents of the cause; and another one, if asked for."""

    written: tuple[Tried, ...]
    fields: Fields
    tried: Tried | None


@dataclass(frozen=True)
class Builder:
    fields: Fields
    kept: tuple[Written, ...]
    tried: Tried | None


def builder(table: str, said: Line | None, typed: Typed) -> Builder | None:
    """None where the table's runs hold no metric. `typed` is of the order `prevent`; with the field `try` the alert
    being written is tried on healthy runs."""
    offered = alert_trials.recorded(table)
    if not offered:
        return None
    body = said.body if said else {}
    kept = _carried(typed) if typed.kind else [alerts.of_event(one) for one in body.get("alerts", ())]
    written = _written(typed, offered) if typed.kind and typed.value("try") else None
    return Builder(
        fields(offered, typed),
        tuple(one for one in kept if one is not None),
        quiet(table, written) if written else None,
    )


def fields(offered: Sequence[str], typed: Typed) -> Fields:
    chosen, usual = typed.value("alert-metric", 80) or offered[0], str(alerts.USUAL_WINDOW)
    return Fields(
        tuple(Watched(id, _choice(id), id == chosen) for id in offered),
        typed.value("alert-threshold", 64),
        typed.value("alert-window", 8) or usual,
        typed.value("alert-hits", 8) or typed.value("alert-window", 8) or usual,
        {field.removeprefix("alert-"): text for field, text in typed.slips.items()},
    )


def quiet(table: str, written: Written) -> Tried:
    """How often it rings while nothing is wrong."""
    trial = alert_trials.healthy_trial(table, written.metric)
    tested = back_test(written.alert(), [trial])
    points, false = tested.outcomes[0].healthy_points, tested.false_alarms  # tens of points: all healthy runs in a row
    rang = f"it rings {_times(false)}, {_rate(tested)}" if false else "it stays quiet"
    return _drawn(written, trial, f"On {points} points of recorded healthy runs {rang}.")


def caught(table: str, written: Written, cause: str, instance: str) -> Tried:
    """What it catches of the recorded histories of a cause, drawn on that of one instance. For closed attempts."""
    trials = alert_trials.trials(table, written.metric)
    own = next((trial for trial in trials if trial.id == instance), trials[-1])
    return _drawn(written, own, _caught_words(back_test(written.alert(), trials), cause))


def afterwards(alerts_scored: Sequence[Mapping[str, Any]], instance: Instance, typed: Typed) -> Afterwards | None:
    """For closed attempts. `alerts_scored` are those of the scorecard; `typed` may hold one more to try."""
    offered = alert_trials.recorded(instance.table)
    if not offered:
        return None
    said = [{name: one[name] for name in ("metric", "threshold", "window", "share")} for one in alerts_scored]
    written = [one for one in map(alerts.of_event, said) if one is not None]
    other = _written(typed, offered)
    return Afterwards(
        tuple(caught(instance.table, one, instance.cause, instance.id) for one in written),
        fields(offered, typed),
        caught(instance.table, other, instance.cause, instance.id) if other else None,
    )


def _caught_words(tested: BackTest, cause: str) -> str:
    """Detections of the cause; false alarms over every history of the table, as the criterion counts them."""
    rang = f"It rings for nothing {_times(tested.false_alarms)}, {_rate(tested)}." if tested.false_alarms else ""
    faulty = [one for one in tested.faulty if one.fault == cause]
    if not faulty:
        return f"No recorded run of this cause holds this metric. {rang}".strip()
    delays = [one.delay_points for one in faulty if one.delay_points is not None]
    tried = "the one recorded incident" if len(faulty) == 1 else f"all {len(faulty)} recorded incidents"
    if not delays:
        return f"It misses {tried} of this cause. {rang}".strip()
    delay = median_high(delays)
    soon = "at the first faulty point" if delay <= 1 else f"after {delay:g} points"
    some = tried if len(delays) == len(faulty) else f"{len(delays)} of {len(faulty)} recorded incidents"
    said = f"It catches {some} of this cause, {soon}"
    return f"{said}. {rang}" if rang else f"{said}, and never rings for nothing."


def _carried(typed: Typed) -> list[Written]:
    """The alerts of a form that came back; what cannot be read has been refused by name already."""
    found: list[Written] = []
    for key in typed.post.getlist("alert"):
        try:
            found.append(alerts.from_key(str(key)))
        except Slip:
            continue
    return found


def _written(typed: Typed, offered: tuple[str, ...]) -> Written | None:
    try:
        return alerts.being_written(typed.post, offered)
    except Slip:
        return None


def _choice(id: str) -> str:
    metric = METRICS[id]
    unit = "" if metric.unit in ("share", "ratio", "count") else f", {metric.unit}"
    return f"{metric.title}{unit}: worse when {metric.worse}"


def _times(number: int) -> str:
    return "once" if number == 1 else "twice" if number == 2 else f"{number} times"


def _rate(tested: BackTest) -> str:
    return f"{three(tested.false_alarms_per_1000_points or 0.0)} in 1,000 points"


def _drawn(written: Written, trial: Trial, sentence: str) -> Tried:
    alert, unit = written.alert(), METRICS[written.metric].unit
    alarms = {stream.of: rises(alert, stream.values) for stream in trial.streams}
    worst = max if METRICS[written.metric].worse == "higher" else min
    lines = tuple(
        StreamLine(
            stream.of,
            len(stream.values),
            say(median(stream.values), unit),
            say(worst(stream.values), unit),
            len(alarms[stream.of]),
        )
        for stream in trial.streams
    )
    return Tried(written.sentence, sentence, _figure(written, trial, alarms), lines)


def _figure(written: Written, trial: Trial, alarms: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Every rank's (or link's) line, the threshold across it, and a dot where the alert turns on."""
    if not trial.streams:
        return {}
    metric = METRICS[written.metric]
    onset = next((stream.onset for stream in trial.streams if stream.onset is not None), None)
    highest = max(*(max(stream.values) for stream in trial.streams), written.threshold)
    rung = sum(len(found) for found in alarms.values())
    line, note = figures.level(written.threshold, f"alert {written.direction} this", role="bad")
    shapes, notes = [line], [{**note, "yanchor": "top" if written.direction == "below" else "bottom"}]
    if onset is not None:
        line, note = figures.upright(onset + 0.5, " the fault begins", role="ink-3")
        shapes, notes = [*shapes, line], [*notes, {**note, "y": 0, "xanchor": "left"}]
    return figures.frame(
        [*_curves(trial.streams, metric.unit), *_rung(trial.streams, alarms, metric.unit)],
        alt=f"{metric.title} over {len(trial.streams[0].values)} recorded points; the alert turns on {_times(rung)}",
        rows=ROWS,
        x=figures.numbers("point (step of training)", low=0.5, high=len(trial.streams[0].values) + 0.5),
        y=figures.numbers(metric.unit, low=0.0, high=HEADROOM * highest or 1.0),
        shapes=shapes,
        annotations=notes,
    )


def _curves(streams: Sequence[Stream], unit: str) -> Iterable[dict[str, Any]]:
    """One name for all of them: which rank it is, each point says."""
    for number, stream in enumerate(streams):
        said = [f"{stream.of}, point {at}: {say(value, unit)}" for at, value in enumerate(stream.values, 1)]
        across = [float(at) for at in range(1, len(stream.values) + 1)]
        name = (
            stream.of if len(streams) == 1 else "each rank" if stream.of.startswith("rank") else "each link, each way"
        )
        yield {**figures.curve(name, "c1", across, stream.values, said, width=1.5), "showlegend": not number}


def _rung(streams: Sequence[Stream], alarms: Mapping[str, Sequence[int]], unit: str) -> list[dict[str, Any]]:
    at = [(stream, index) for stream in streams for index in alarms[stream.of]]
    if not at:
        return []
    said = [f"the alert turns on: {stream.of}, {say(stream.values[index], unit)}" for stream, index in at]
    return [
        figures.cloud(
            "the alert turns on",
            "bad",
            [float(index + 1) for _, index in at],
            [stream.values[index] for stream, index in at],
            said,
        )
    ]
