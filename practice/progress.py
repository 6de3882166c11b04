"""What an attempt has come to: a pure fold over its events. Pages read this, never the log itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

# Between two events further apart than this the candidate was away: the clock beside them stood still.
AWAY_AFTER_S = 30 * 60


@dataclass(frozen=True)
class Line:
    """One event with its number in the log."""

    index: int
    at_s: float
    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Struck:
    """A cause ruled out: by which event, resting on what."""

    cause: str
    by: int
    at_s: float
    because: tuple[Any, ...]


@dataclass
class Progress:
    """The state of an attempt after its events so far."""

    lines: list[Line] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    estimates: dict[tuple[str, str], Line] = field(default_factory=dict)
    verdict: Line | None = None
    hypotheses: tuple[str, ...] = ()
    predictions: list[Line] = field(default_factory=list)
    steps: list[Line] = field(default_factory=list)
    struck: dict[str, Struck] = field(default_factory=dict)
    notes: list[Line] = field(default_factory=list)
    hints: list[Line] = field(default_factory=list)
    diagnoses: list[Line] = field(default_factory=list)
    successes: list[Line] = field(default_factory=list)
    fixes: list[Line] = field(default_factory=list)
    verifications: list[Line] = field(default_factory=list)
    prevention: Line | None = None

    @property
    def diagnosis(self) -> Line | None:
        return self.diagnoses[-1] if self.diagnoses else None

    @property
    def success(self) -> Line | None:
        return self.successes[-1] if self.successes else None

    def evidence_lines(self) -> dict[str, Line]:
        """The step and verify events by the id of the evidence that answered them."""
        return {line.body["evidence"]: line for line in [*self.steps, *self.verifications] if "evidence" in line.body}

    def active_s(self, until_s: float) -> float:
        """Seconds at work until `until_s`: gaps longer than half an hour are left out."""
        marks = [0.0, *(line.at_s for line in self.lines), until_s]
        gaps = (later - earlier for earlier, later in pairwise(marks))
        return sum(gap for gap in gaps if 0 < gap <= AWAY_AFTER_S)


def fold(events: Iterable[Any], families: Mapping[str, tuple[str, ...]]) -> Progress:
    """The progress after `events` (rows with index, at_s, kind, body). `families` gives the causes of each family."""
    progress = Progress()
    for event in events:
        line = Line(event.index, event.at_s, event.kind, event.body)
        progress.lines.append(line)
        if act := _ACTS.get(event.kind):
            act(progress, line, families)
    return progress


Families = Mapping[str, tuple[str, ...]]


def causes_of(body: Mapping[str, Any], families: Families) -> list[str]:
    """The causes that an event names, by themselves and through their families."""
    named = list(body.get("causes") or ())
    return named + [cause for family in body.get("families") or () for cause in families.get(family, ())]


def _ask(progress: Progress, line: Line, _: Families) -> None:
    if line.body["fact"] not in progress.asked:
        progress.asked.append(line.body["fact"])


def _estimate(progress: Progress, line: Line, _: Families) -> None:
    progress.estimates.setdefault((line.body["quantity"], line.body["scale"]), line)


def _verdict(progress: Progress, line: Line, _: Families) -> None:
    progress.verdict = line


def _hypothesis(progress: Progress, line: Line, _: Families) -> None:
    progress.hypotheses = tuple(line.body["causes"])


def _rule_out(progress: Progress, line: Line, families: Families) -> None:
    because = tuple(line.body.get("because") or ())
    for cause in causes_of(line.body, families):
        progress.struck.setdefault(cause, Struck(cause, line.index, line.at_s, because))


def _restore(progress: Progress, line: Line, _: Families) -> None:
    for cause in line.body["causes"]:
        progress.struck.pop(cause, None)


def _prevent(progress: Progress, line: Line, _: Families) -> None:
    progress.prevention = line


_ACTS = {
    "ask": _ask,
    "estimate": _estimate,
    "verdict": _verdict,
    "hypothesis": _hypothesis,
    "predict": lambda progress, line, _: progress.predictions.append(line),
    "step": lambda progress, line, _: progress.steps.append(line),
    "rule_out": _rule_out,
    "restore": _restore,
    "hint": lambda progress, line, _: progress.hints.append(line),
    "note": lambda progress, line, _: progress.notes.append(line),
    "diagnose": lambda progress, line, _: progress.diagnoses.append(line),
    "success": lambda progress, line, _: progress.successes.append(line),
    "fix": lambda progress, line, _: progress.fixes.append(line),
    "verify": lambda progress, line, _: progress.verifications.append(line),
    "prevent": _prevent,
}
