"""The queue as it would run if every experiment took its nominal time. Pure.

A candidate's waits are computed here and nowhere else. Real start and end times depend on the hidden cause, also on
the causes of others ahead in the queue; arrivals, priorities and nominal times do not.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Asked:
    """One run as it was asked for: never when it really started or ended."""

    id: Hashable
    created_at: datetime
    first_priority: int
    priority: int
    hurried_at: datetime | None
    nominal_s: float

    def priority_at(self, moment: datetime) -> int:
        """What it was then: hurrying does not reach into the past."""
        hurried = self.hurried_at is not None and self.hurried_at <= moment
        return self.priority if hurried else self.first_priority


def finishes(asked: Iterable[Asked], *, machines: int = 1) -> dict[Hashable, datetime]:
    """When each run ends on `machines` machines that take the most urgent run as soon as they are free.

    Inside one priority: first come, first served. A run that has begun is never interrupted.
    """
    events = sorted(event for run in asked for event in events_of(run))
    ends: dict[Hashable, datetime] = {}
    if not events:
        return ends
    free = [events[0].moment] * max(1, machines)
    waiting: list[Waiting] = []
    at = 0
    while True:
        while at < len(events) and events[at].moment <= free[0]:
            heapq.heappush(waiting, events[at].waiting)
            at += 1
        while waiting and waiting[0].run.id in ends:
            heapq.heappop(waiting)
        if waiting:
            run = heapq.heappop(waiting).run
            ends[run.id] = free[0] + timedelta(seconds=run.nominal_s)
            heapq.heapreplace(free, ends[run.id])
        elif at < len(events):
            heapq.heapreplace(free, events[at].moment)
        else:
            return ends


@dataclass(frozen=True, order=True)
class Waiting:
    """A run's place among those that wait: the most urgent first, then the one that came first."""

    less_urgent: int
    created_at: datetime
    name: str
    run: Asked = field(compare=False)


@dataclass(frozen=True, order=True)
class Event:
    """From this moment on the run waits with this urgency. A hurried run has two; the second overtakes the first."""

    moment: datetime
    waiting: Waiting


def events_of(run: Asked) -> list[Event]:
    moments = [run.created_at]
    if run.hurried_at is not None and run.hurried_at > run.created_at:
        moments.append(run.hurried_at)
    return [Event(at, Waiting(-run.priority_at(at), run.created_at, str(run.id), run)) for at in moments]
