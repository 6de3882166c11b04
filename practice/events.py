"""The append-only log of an attempt: the one place that writes events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from grader.transcript import MAX_EVENTS, TranscriptError, parse_event
from practice.errors import AttemptClosed, NotNow, Slip
from practice.models import Attempt, Event

# The grader reads no longer log: the rest is left for readings that are still to come, and for the close.
MOST_ORDERS = MAX_EVENTS - 100


@dataclass(frozen=True)
class Appended:
    """The event, and whether this call wrote it (False: the same form was sent before)."""

    event: Event
    fresh: bool


def locked(attempt: Attempt) -> Attempt:
    """The attempt's row, held until the transaction ends. Call inside one."""
    return Attempt.objects.select_for_update().get(pk=attempt.pk)


def refuse_a_full_log(attempt: Attempt) -> None:
    """Raises NotNow where the log holds as many events as an attempt may have."""
    if attempt.events.count() >= MOST_ORDERS:
        raise NotNow(f"This attempt's log is full: it holds {MOST_ORDERS:,} entries. Close it to be scored.")


def append(attempt: Attempt, kind: str, body: dict[str, Any], *, token: str, now: datetime) -> Appended:
    """Append one event. A token used before gives the event it made then.

    Raises AttemptClosed, or Slip where the body is no such event.
    """
    with transaction.atomic():
        held = locked(attempt)
        if before := held.events.filter(token=token).first():
            return Appended(before, fresh=False)
        if held.is_closed:
            raise AttemptClosed
        last = held.events.last()
        # A clock that was set back must not put an event before the one that it follows.
        at_s = max(held.seconds_at(now), last.at_s if last else 0.0)
        index = last.index + 1 if last else 0
        _check({"at_s": at_s, "kind": kind, **body}, index)
        event = Event(attempt=held, index=index, at_s=at_s, kind=kind, body=body, token=token)
        event.save(force_insert=True)
        return Appended(event, fresh=True)


def _check(event: dict[str, Any], index: int) -> None:
    """Every event in the log is one that the grader reads."""
    try:
        parse_event(event, index)
    except TranscriptError as error:
        raise Slip(str(error), field=error.field) from None
