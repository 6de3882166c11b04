"""The queue as it would run if every experiment took its nominal time. Pure.

A candidate's waits are computed here and nowhere else. Real start and end times depend on the hidden cause, also on
the causes of others ahead in the queue; arrivals, priorities and nominal times do not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
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
    waiting = sorted(asked, key=lambda run: (run.created_at, str(run.id)))
    ends: dict[Hashable, datetime] = {}
    if not waiting:
        return ends
    free = [waiting[0].created_at] * max(1, machines)
    while waiting:
        free.sort()
        moment = max(free[0], min(run.created_at for run in waiting))
        chosen = most_urgent(waiting, moment)
        waiting.remove(chosen)
        free[0] = ends[chosen.id] = moment + timedelta(seconds=chosen.nominal_s)
    return ends


def most_urgent(waiting: list[Asked], moment: datetime) -> Asked:
    """Of the runs that had been asked for by `moment`, in order of arrival: the first of the highest priority."""
    there = [run for run in waiting if run.created_at <= moment]
    return max(there, key=lambda run: run.priority_at(moment))
