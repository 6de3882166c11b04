"""What a sprint may be about, and which of its items is asked next. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from grader.drills.base import LEVELS
from grader.drills.making import TOPICS
from practice.drills.items import CONCEPT, NAPKIN, Item, every

STEPS = {
    "floor": "What must it cost?",
    "split": "Straggler, or network?",
    "bisect": "Fabric, or job?",
    "rule-out": "What each reading leaves",
    "confirm": "What was chosen, what changed",
    "repair": "Repair, and verify",
    "prevent": "Prevent it next time",
}
ALL, DUE, ALL_NAPKIN, ALL_CONCEPTS = "all", "due", NAPKIN, CONCEPT
QUESTIONS, MINUTES = (5, 10, 20), (3, 5, 10)
# An item does not come up again within so many questions, unless there is nothing else.
APART = 6


@dataclass(frozen=True)
class Scope:
    """A choice of the start form. `group` is the heading under which it stands."""

    id: str
    title: str
    group: str = ""


SCOPES: dict[str, Scope] = {
    scope.id: scope
    for scope in (
        Scope(ALL, "Everything, mixed"),
        Scope(ALL_NAPKIN, "Napkin math, mixed"),
        Scope(ALL_CONCEPTS, "Concepts, mixed"),
        *(Scope(f"{NAPKIN}:{topic.id}", topic.title, "Napkin math") for topic in TOPICS.values()),
        *(Scope(f"{CONCEPT}:{step}", title, "Concepts, by step of the search") for step, title in STEPS.items()),
    )
}
TITLE_OF_DUE = "What is due"


def title(scope: str) -> str:
    """How a page calls a scope; one that a release took away keeps its id."""
    return TITLE_OF_DUE if scope == DUE else SCOPES[scope].title if scope in SCOPES else scope


def part_title(item: Item) -> str:
    return TOPICS[item.part].title if item.kind == NAPKIN else STEPS[item.part]


def members(scope: str, level: int) -> list[str]:
    """The items of a scope at a level (0: any). Concepts have no level."""
    kind, _, part = ("", "", "") if scope in (ALL, DUE) else scope.partition(":")
    return [
        item.id
        for item in every().values()
        if kind in ("", item.kind) and part in ("", item.part) and (item.level == level or not level or not item.level)
    ]


def choose(
    candidates: Sequence[str],
    due: Mapping[str, datetime],
    asked: Sequence[str],
    now: datetime,
    below: Callable[[int], int],
    only_due: bool = False,
) -> str | None:
    """The next item: what is due first, longest overdue; then what was never asked; then anything else.

    `due` says when each known item is due, `asked` what this sprint asked, `below(n)` draws a number below n. None
    where nothing is left (`only_due`).
    """
    late = [id for id in candidates if id in due and due[id] <= now and id not in asked[-1:]]
    if late:
        return min(late, key=lambda id: due[id])
    if only_due or not candidates:
        return None
    recent = asked[-min(APART, len(candidates) - 1) :] if len(candidates) > 1 else ()
    free = [id for id in candidates if id not in recent]
    fresh = [id for id in free if id not in due]
    pool = fresh or free
    return pool[below(len(pool))]


__all__ = ["LEVELS", "MINUTES", "QUESTIONS", "SCOPES", "STEPS", "Scope", "choose", "members", "part_title", "title"]
