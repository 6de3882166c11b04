"""Back-tests an alert on recorded series: how soon it fires, how often for nothing, what it misses. Pure.

An alert watches one metric of every rank (or link, or the whole job) and is *on* while, of the last `window` points of
any of these streams, at least the share `share` lies beyond the threshold. A trial is one history that is healthy up to
its onset and faulty from there; one without an onset is healthy throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Direction = Literal["above", "below"]
PER_POINTS = 1000


class Alert(BaseModel):
    """`metric` beyond `threshold`, in the metric's own unit, in at least `share` of the last `window` points."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    metric: str
    threshold: float = Field(allow_inf_nan=False)
    direction: Direction
    window: int = Field(default=1, ge=1, le=1000, description="points: training steps, or samples of the metric")
    share: float = Field(default=1.0, gt=0, le=1, description="of the window's points, at least")

    @property
    def needed(self) -> int:
        """Points of a full window that have to lie beyond the threshold."""
        # A share such as 0.6 of 5 is 3 in arithmetic, and 3.0000000000000004 in floating point.
        return max(1, math.ceil(self.share * self.window - 1e-9))

    def is_beyond(self, value: float) -> bool:
        return value > self.threshold if self.direction == "above" else value < self.threshold


@dataclass(frozen=True)
class Stream:
    """One metric of one rank or link over a trial, point by point; `at_s` counts from the trial's begin."""

    of: str
    at_s: tuple[float, ...]
    values: tuple[float, ...]
    onset: int | None = None  # index of the first faulty point; None where the stream is healthy throughout


@dataclass(frozen=True)
class Trial:
    """One history. `streams` may be empty: then the metric was not recorded, which is neither a hit nor a miss."""

    id: str
    fault: str | None
    streams: tuple[Stream, ...]


@dataclass(frozen=True)
class Outcome:
    """One trial under one alert. Delays count from the onset to the point that turned the alert on, both included."""

    trial: str
    fault: str | None
    recorded: bool
    healthy_points: int
    false_alarms: int
    detected_by: str = ""  # the stream that fired first after the onset
    delay_points: int | None = None
    delay_s: float | None = None

    @property
    def missed(self) -> bool:
        return self.recorded and self.fault is not None and self.delay_points is None


@dataclass(frozen=True)
class BackTest:
    """All trials under one alert."""

    alert: Alert
    outcomes: tuple[Outcome, ...]

    @property
    def faulty(self) -> tuple[Outcome, ...]:
        return tuple(one for one in self.outcomes if one.recorded and one.fault is not None)

    @property
    def detected(self) -> tuple[Outcome, ...]:
        return tuple(one for one in self.faulty if not one.missed)

    @property
    def missed(self) -> tuple[Outcome, ...]:
        return tuple(one for one in self.faulty if one.missed)

    @property
    def not_recorded(self) -> tuple[Outcome, ...]:
        return tuple(one for one in self.outcomes if not one.recorded)

    @property
    def detected_share(self) -> float | None:
        return len(self.detected) / len(self.faulty) if self.faulty else None

    @property
    def false_alarms(self) -> int:
        return sum(one.false_alarms for one in self.outcomes)

    @property
    def false_alarms_per_1000_points(self) -> float | None:
        """Alarms while nothing was wrong, over all healthy points of all streams' common clock."""
        points = sum(one.healthy_points for one in self.outcomes)
        return PER_POINTS * self.false_alarms / points if points else None

    @property
    def delay_points(self) -> float | None:
        """Median over the detected faults."""
        return _median([one.delay_points for one in self.detected])

    @property
    def delay_s(self) -> float | None:
        return _median([one.delay_s for one in self.detected])

    def by_fault(self) -> dict[str, tuple[int, int]]:
        """(detected, tried) of each fault."""
        faults = sorted({one.fault for one in self.faulty if one.fault})
        return {
            fault: (sum(one.fault == fault for one in self.detected), sum(one.fault == fault for one in self.faulty))
            for fault in faults
        }


def back_test(alert: Alert, trials: Sequence[Trial]) -> BackTest:
    """Plays every trial to the alert."""
    return BackTest(alert, tuple(play(alert, trial) for trial in trials))


def play(alert: Alert, trial: Trial) -> Outcome:
    """The alert on one history. An alarm that is already on as the fault begins is a false one and detects nothing."""
    healthy = max((_healthy_points(stream) for stream in trial.streams), default=0)
    risen = [(stream, index) for stream in trial.streams for index in rises(alert, stream.values)]
    after = [(stream, index) for stream, index in risen if stream.onset is not None and index >= stream.onset]
    outcome = Outcome(trial.id, trial.fault, bool(trial.streams), healthy, len(risen) - len(after))
    if not after:
        return outcome
    stream, index = min(after, key=lambda one: one[0].at_s[one[1]])
    return _detected(outcome, stream, index)


def rises(alert: Alert, values: Sequence[float]) -> list[int]:
    """Indices at which the alert turns on. Before its window is full it is off."""
    beyond = [alert.is_beyond(value) for value in values]
    counted = [sum(beyond[max(0, end - alert.window) : end]) for end in range(1, len(beyond) + 1)]
    on = [end >= alert.window and count >= alert.needed for end, count in enumerate(counted, 1)]
    return [index for index, now in enumerate(on) if now and not (index and on[index - 1])]


def _detected(outcome: Outcome, stream: Stream, index: int) -> Outcome:
    onset = stream.onset or 0
    began_s = stream.at_s[onset - 1] if onset else 0.0
    return Outcome(
        outcome.trial,
        outcome.fault,
        outcome.recorded,
        outcome.healthy_points,
        outcome.false_alarms,
        detected_by=stream.of,
        delay_points=index - onset + 1,
        delay_s=stream.at_s[index] - began_s,
    )


def _healthy_points(stream: Stream) -> int:
    return len(stream.values) if stream.onset is None else stream.onset


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
