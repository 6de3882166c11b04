"""What the pages show. A form holds nothing of its answer; a result is made once the answer was judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from practice.design import items
from practice.design.base import Item, Kind, Posed, Typed
from practice.errors import Slip
from practice.models import DesignAttempt, Person

MOST_ATTEMPTS = 12


@dataclass(frozen=True)
class Offered:
    """A kind as the page offers it."""

    id: str
    title: str
    day: str
    lead: str
    items: tuple[Item, ...]


def kinds() -> tuple[Offered, ...]:
    return tuple(Offered(one.id, one.title, one.day, one.lead, tuple(one.items())) for one in items.every_kind())


@dataclass(frozen=True)
class AttemptLine:
    """One attempt in the list of what a person did."""

    id: UUID
    title: str
    size: str
    opened_at: datetime
    answered: bool
    how: str


def attempts(person: Person | None) -> tuple[AttemptLine, ...]:
    return tuple(_lines(DesignAttempt.objects.of(person).defer("answer", "marks")[:MOST_ATTEMPTS]))


def _lines(rows: Iterable[DesignAttempt]) -> Iterable[AttemptLine]:
    for row in rows:
        kind, item = items.every().get(row.item, (None, None))
        title = item.title if item else row.item
        yield AttemptLine(row.pk, title, kind.title if kind else "", row.opened_at, row.is_answered, how(row, kind))


def how(row: DesignAttempt, kind: Kind | None) -> str:
    """How an attempt went, in a few words."""
    if not row.is_answered:
        return "open"
    if row.shown:
        return "shown"
    if row.right is None:
        return "not marked yet"
    by = " by your own mark" if kind and kind.by_oneself else ""
    return f"{row.right} of {row.asked}{by}"


def page(attempt: DesignAttempt, slip: Slip | None, now: datetime) -> dict[str, Any]:
    """The context of an attempt's page: with `ask` while it is open, with `result` once it was answered."""
    posed = items.pose(attempt.item, attempt.seed)
    known = posed is not None and posed.fingerprint == attempt.fingerprint
    context: dict[str, Any] = {
        "attempt": attempt,
        "how": how(attempt, posed.kind if posed else None),
        "title": posed.item.title if posed else attempt.item,
        "item": posed.item if posed else None,
        "kind": posed.kind if posed else None,
        "known": known,
        "written": [*attempt.answer.items()],
        "slip_count": len(slip.fields) if slip else 0,
        "form_error": slip.fields.get("", "") if slip else "",
    }
    if posed is None or not known:
        return context
    return context | (_result(attempt, posed) if attempt.is_answered else _ask(attempt, posed, slip, now))


def _ask(attempt: DesignAttempt, posed: Posed, slip: Slip | None, now: datetime) -> dict[str, Any]:
    typed = Typed(attempt.answer, slip.fields if slip else {})
    return {
        "ask": posed.kind.ask(posed.task, typed),
        "ask_template": f"practice/design/{posed.kind.id}/ask.html",
        "seconds": max(0.0, (now - attempt.opened_at).total_seconds()),
        "started": bool(attempt.answer),
    }


def _result(attempt: DesignAttempt, posed: Posed) -> dict[str, Any]:
    kind, task = posed.kind, posed.task
    given = kind.model_answer(task) if attempt.shown else attempt.answer
    judged = kind.judge(task, given)
    taken = (attempt.answered_at - attempt.opened_at).total_seconds() if attempt.answered_at else 0.0
    return {
        "result": kind.result(task, given, judged, attempt.marks),
        "result_template": f"practice/design/{kind.id}/result.html",
        "lines": judged.lines,
        "seconds": max(0.0, taken),
    }
