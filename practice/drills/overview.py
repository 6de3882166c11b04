"""The page of drills: what is due, what to start, how it went, how well confidence fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from grader.history import Brier, brier_of
from practice.drills import items, scopes
from practice.models import Memory, Person, Question, Sprint

MOST_DUE_LISTED = 6
MOST_SPRINTS = 8
MOST_SLIPS = 5
# Of all that was ever answered, the latest; older answers say little of today, and reading them all costs.
LATEST = 2000


@dataclass(frozen=True)
class DueLine:
    title: str
    tag: str


@dataclass(frozen=True)
class PartLine:
    """How one topic, or one step of the search, has gone so far."""

    title: str
    kind: str
    answered: int
    right: int
    seconds: float
    due: int

    @property
    def share(self) -> float:
        return self.right / self.answered


@dataclass(frozen=True)
class SprintLine:
    id: Any
    title: str
    opened_at: datetime
    closed: bool
    answered: int
    right: int


@dataclass(frozen=True)
class ConfidenceLine:
    """Of the answers given with one confidence, how many were right."""

    said: float
    answers: int
    right: float


@dataclass(frozen=True)
class Offered:
    """What there is under one heading: each scope with its number of items."""

    title: str
    listed: tuple[tuple[scopes.Scope, int], ...]

    @property
    def number(self) -> int:
        return sum(number for _, number in self.listed)


@dataclass(frozen=True)
class Overview:
    due: int = 0
    due_lines: tuple[DueLine, ...] = ()
    later_today: int = 0
    next_due: datetime | None = None
    parts: tuple[PartLine, ...] = ()
    sprints: tuple[SprintLine, ...] = ()
    slips: tuple[tuple[str, int], ...] = ()
    brier: Brier | None = None
    confidence: tuple[ConfidenceLine, ...] = ()
    answered: int = 0
    open_sprint: SprintLine | None = None
    left: int = 0
    groups: tuple[tuple[str, tuple[scopes.Scope, ...]], ...] = field(default_factory=tuple)
    offered: tuple[Offered, ...] = ()


def overview(person: Person | None, now: datetime) -> Overview:
    """All of it; for somebody new, what there is to start."""
    memories = [one for one in Memory.objects.of(person) if one.item in items.every()]
    late = [one for one in memories if one.due <= now]
    answered = list(Question.objects.of(person).answered().defer("answer").order_by("-answered_at")[:LATEST])
    sprints = list(_sprints(person))
    said = [(one.sure / 100, float(one.is_right)) for one in answered if one.sure is not None]
    return Overview(
        due=len(late),
        due_lines=tuple(_due_line(one) for one in late[:MOST_DUE_LISTED]),
        later_today=sum(now < one.due <= _end_of_day(now) for one in memories),
        next_due=min((one.due for one in memories if one.due > now), default=None),
        parts=tuple(_parts(answered, late)),
        sprints=tuple(one for one in sprints if one.answered),
        slips=tuple(Counter(one.slip for one in answered if one.slip).most_common(MOST_SLIPS)),
        brier=brier_of(said, "answers"),
        confidence=tuple(_confidence(said)),
        answered=len(answered),
        open_sprint=next((one for one in sprints if not one.closed), None),
        left=max(0, len(late) - MOST_DUE_LISTED),
        groups=groups(),
        offered=tuple(_offered()),
    )


def _end_of_day(now: datetime) -> datetime:
    return timezone.localtime(now).replace(hour=23, minute=59, second=59)


def groups() -> tuple[tuple[str, tuple[scopes.Scope, ...]], ...]:
    """The scopes under their headings, in order."""
    headings = dict.fromkeys(scope.group for scope in scopes.SCOPES.values())
    return tuple((name, tuple(s for s in scopes.SCOPES.values() if s.group == name)) for name in headings)


def _offered() -> Iterable[Offered]:
    for heading, listed in groups():
        if heading:
            yield Offered(heading, tuple((scope, len(scopes.members(scope.id, 0))) for scope in listed))


def _sprints(person: Person | None) -> Iterable[SprintLine]:
    counted = Sprint.objects.of(person).annotate(
        answered=Count("questions", filter=Q(questions__answered_at__isnull=False)),
        right=Count("questions", filter=Q(questions__verdict="right")),
    )
    for one in counted[:MOST_SPRINTS]:
        title = scopes.title(one.scope) + (f" · level {one.level}" if one.level else "")
        yield SprintLine(one.pk, title, one.opened_at, one.is_closed, one.answered, one.right)


def _due_line(memory: Memory) -> DueLine:
    item = items.every()[memory.item]
    return DueLine(item.title, f"level {item.level}" if item.level else "concept")


def _parts(answered: list[Question], late: list[Memory]) -> Iterable[PartLine]:
    """By topic and step, weakest first."""
    by_part: dict[tuple[str, str], list[Question]] = {}
    for one in answered:
        if item := items.every().get(one.item):
            by_part.setdefault((item.kind, scopes.part_title(item)), []).append(one)
    due = Counter((i.kind, scopes.part_title(i)) for i in (items.every()[memory.item] for memory in late))
    lines = [
        PartLine(
            part,
            kind,
            len(of_it),
            sum(one.is_right for one in of_it),
            median(one.seconds or 0.0 for one in of_it),
            due[kind, part],
        )
        for (kind, part), of_it in by_part.items()
    ]
    return sorted(lines, key=lambda line: (line.share, -line.answered, line.title))


def _confidence(said: list[tuple[float, float]]) -> Iterable[ConfidenceLine]:
    for level in sorted({share for share, _ in said}):
        right = [hit for share, hit in said if share == level]
        yield ConfidenceLine(level, len(right), sum(right) / len(right))
