"""From whole runs to the histories that an alert is back-tested on. Pure.

A fault of a banked run is there from its first step, and a history that is faulty from its first point would have no
delay to measure. So a trial is *joined*: the points of a healthy run, then those of a faulted one of the same setting,
on one clock. Both parts were really measured; that the one follows the other was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_worker.errors import BadSpec
from gpu_worker.metrics import METRICS, MetricSeries
from gpu_worker.specs import WholeRun
from grader.alerts import Alert, Stream, Trial


def alert_on(metric: str, threshold: float, *, window: int = 1, share: float = 1.0) -> Alert:
    """An alert in the direction in which the metric gets worse. Raises BadSpec that names the metrics there are."""
    if metric not in METRICS:
        raise BadSpec(f"there is no metric {metric!r}; the lab records {', '.join(METRICS)}")
    direction = "above" if METRICS[metric].worse == "higher" else "below"
    return Alert(metric=metric, threshold=threshold, direction=direction, window=window, share=share)


def joined_trial(id: str, metric: str, healthy: Sequence[WholeRun], faulted: WholeRun | None, fault: str) -> Trial:
    """The healthy runs one after the other, then the faulted one. Streams that not every part has are left out."""
    parts = [_by_owner(metric, run) for run in (*healthy, *([faulted] if faulted else []))]
    common = [of for of in parts[0] if all(of in part for part in parts)] if parts else []
    onset = len(parts) - 1 if faulted else None
    streams = tuple(_joined([part[of] for part in parts], onset) for of in common)
    return Trial(id, fault if faulted else None, streams)


def _by_owner(metric: str, run: WholeRun) -> Mapping[str, MetricSeries]:
    if metric not in METRICS:
        raise BadSpec(f"there is no metric {metric!r}; the lab records {', '.join(METRICS)}")
    return {series.of: series for series in METRICS[metric].read(run) if series.values}


def _joined(parts: Sequence[MetricSeries], faulty_part: int | None) -> Stream:
    values: list[float] = []
    at_s: list[float] = []
    onset = None
    for number, part in enumerate(parts):
        if number == faulty_part:
            onset = len(values)
        begun_s = at_s[-1] if at_s else 0.0
        at_s += [begun_s + at for at in part.at_s]
        values += part.values
    return Stream(parts[0].of, tuple(at_s), tuple(values), onset)
