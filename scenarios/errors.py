"""A broken scenario: taken down with its author told, never the candidate's fault."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

MOST_NAMED = 20


class ScenarioError(Exception):
    """One thing wrong in a scenario file: `str()` gives `file:line: what is wrong; the repair`."""

    def __init__(self, file: str | Path, line: int | None, message: str) -> None:
        self.file = Path(file).name
        self.line = line
        self.message = message
        super().__init__(f"{self.file}:{line}: {message}" if line else f"{self.file}: {message}")


class ScenarioErrors(ScenarioError):
    """All that is wrong in one file: reads as its first error, holds the rest in `errors`."""

    def __init__(self, errors: list[ScenarioError]) -> None:
        self.errors = errors
        first = errors[0]
        super().__init__(first.file, first.line, first.message)


class BankIncomplete(Exception):
    """The bank lacks what was asked of it; the message names the command that makes it."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?`, or `; known: …` where nothing is near, as many as a line holds."""
    choices = sorted(known)
    near = difflib.get_close_matches(wrong, choices, n=1)
    if near:
        return f'; did you mean "{near[0]}"?'
    more = f" and {len(choices) - MOST_NAMED} more" if len(choices) > MOST_NAMED else ""
    return f"; known: {', '.join(choices[:MOST_NAMED])}{more}" if choices else ""
