"""What every design exercise has: lines that were asked, each judged with what holds and why."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# A form as it was sent: each field with all that was sent under its name.
Given = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Line:
    """One thing that was asked: what was answered, what holds, and a sentence for each thing that is wrong.

    `about` names it in the words of the page, `field` is the form's.
    """

    field: str
    about: str
    right: bool
    given: str
    holds: str
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """An answer, line by line."""

    lines: tuple[Line, ...]

    @property
    def right(self) -> int:
        return sum(line.right for line in self.lines)

    @property
    def asked(self) -> int:
        return len(self.lines)


@dataclass
class NotAnAnswer(Exception):
    """A form that cannot be judged yet: a sentence for each field that says what to mend. Nothing is counted."""

    fields: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.fields.values())


def text_of(given: Given, name: str) -> str:
    """What was typed in a field; empty where it was not sent."""
    sent = given.get(name) or [""]
    return str(sent[0]).replace("\x00", "").strip()


def fingerprint(*told: object) -> str:
    """Changes with whatever a person reads or is judged by: tells whether a stored seed still asks the same."""
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def listed(things: Sequence[object]) -> str:
    """`0`, `0 and 1`, `0, 1 and 2`."""
    words = [str(one) for one in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
