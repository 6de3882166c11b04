"""What the library does, and what changed. Never penalised for coming early."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Settings, Words, not_applicable, nothing
from grader.timeline import Taken


class ConfirmWords(Words):
    library: str = "what the library really does"
    change: str = "what changed"
    not_offered: str = "This scenario offers no step for it."
    never: str = "You never looked at {missed}."
    both: str = "You checked {asked}."
    one: str = "You checked {asked}, not {missed}."


class ConfirmSettings(Settings):
    title: str = "What it does, what changed"
    words: ConfirmWords = ConfirmWords()


ROLES = ("library", "change")


def credited(case: Case) -> list[Taken]:
    """The first step for each of the two questions."""
    found = (next((t for t in case.timeline.evidence() if role in t.step.tells), None) for role in ROLES)
    return list(dict.fromkeys(t for t in found if t is not None))


def mark(case: Case) -> Mark:
    """Half for each of the questions that some step of the scenario can answer."""
    words = case.its(ConfirmSettings).words
    offered = [role for role in ROLES if any(role in step.tells for step in case.index.steps)]
    if not offered:
        return not_applicable(words.not_offered)
    asked = [role for role in offered if any(role in t.step.tells for t in case.timeline.evidence())]
    missed = [getattr(words, role) for role in offered if role not in asked]
    if not asked:
        return nothing(words.never.format(missed=" or ".join(missed)))
    said = " and ".join(getattr(words, role) for role in asked)
    why = words.one.format(asked=said, missed=missed[0]) if missed else words.both.format(asked=said)
    return Mark(len(asked) / len(offered), why, tuple(sorted(t.event for t in credited(case))))


CRITERION = Criterion(
    "confirm",
    ConfirmSettings,
    mark,
    "Asks what the library really chose and what changed, and holds both against the readings.",
    credited,
)
