"""`manage.py grade TRANSCRIPT.json… [--compare RUBRIC_A RUBRIC_B] [--json]`: score attempts from the command line.

Exit codes: 0 fine, 2 a transcript that cannot be read or scored, with file, line and repair.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from ruamel.yaml import YAML

from grader.compare import CAP, HINTS, Change, change
from grader.rubric import Rubric
from grader.scorecard import Scorecard
from grader.transcript import Transcript, TranscriptError, parse_transcript, transcript_schema
from scenarios import grading, library, rubrics
from scenarios.errors import BankIncomplete, ScenarioError

MISUSED = 2


class Command(BaseCommand):
    help = "Scores transcripts of attempts. docs/transcript.md describes their format."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="TRANSCRIPT.json")
        parser.add_argument(
            "--compare", nargs=2, metavar=("RUBRIC_A", "RUBRIC_B"),
            help=f"who changes, by how much and why: {', '.join(rubrics.names())}, a revision as NAME@2, or a file",
        )  # fmt: skip
        parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a transcript")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(json.dumps(transcript_schema(), indent=2))
            return
        if not options["files"]:
            raise CommandError("name at least one transcript file", returncode=MISUSED)
        if options["compare"]:
            lines = self.compared([named_rubric(name) for name in options["compare"]], options)
        else:
            cards = [(path, self.one(path, None)) for path in options["files"]]
            lines = as_json(cards) if options["json"] else as_lines(cards)
        for line in lines:
            self.stdout.write(line)

    def compared(self, pair: list[Rubric], options: dict[str, Any]) -> list[str]:
        names = labels_of(pair)
        rows = [(path, *(self.one(path, rubric) for rubric in pair)) for path in options["files"]]
        found = [Compared(path, before, after, change(before, after)) for path, before, after in rows]
        return compared_json(found, names) if options["json"] else compared_lines(found, names)

    def one(self, path: Path, rubric: Rubric | None) -> Scorecard:
        """The scorecard of a file, by its track's rubric unless one is given."""
        try:
            transcript = read(path)
            card = grading.scorecard(transcript, library.get(transcript.scenario, transcript.revision), rubric)
        except TranscriptError as wrong:
            raise CommandError(f"{place(path, wrong.event)}: {wrong}", returncode=MISUSED) from None
        except (ScenarioError, BankIncomplete) as wrong:
            raise CommandError(f"{path}: {wrong}", returncode=MISUSED) from None
        if transcript.calibration and transcript.calibration != card.calibration:
            self.stderr.write(f"{path}: taken under calibration {transcript.calibration}, scored by {card.calibration}")
        return card


@dataclass(frozen=True)
class Compared:
    """One transcript under two rubrics."""

    path: Path
    before: Scorecard
    after: Scorecard
    change: Change


def read(path: Path) -> Transcript:
    """The transcript in a file. Raises CommandError for a file that is not JSON, TranscriptError for what is in it."""
    try:
        return parse_transcript(json.loads(path.read_text()))
    except (OSError, UnicodeDecodeError) as unreadable:
        raise CommandError(f"{path}: cannot be read: {unreadable}", returncode=MISUSED) from None
    except json.JSONDecodeError as broken:
        raise CommandError(f"{path}:{broken.lineno}: not JSON: {broken.msg}", returncode=MISUSED) from None


def place(path: Path, event: int | None) -> str:
    """`file:line` of an event; the file alone where it is about no event."""
    if event is None:
        return str(path)
    # JSON is YAML, and this reader keeps the line of every item.
    return f"{path}:{YAML().load(path.read_text())['events'].lc.item(event)[0] + 1}"


def named_rubric(name: str) -> Rubric:
    """A rubric by name, revision or file. Raises CommandError with one line."""
    try:
        return rubrics.named(name)
    except ScenarioError as wrong:
        raise CommandError(str(wrong), returncode=MISUSED) from None


def labels_of(pair: list[Rubric]) -> list[str]:
    """Names that tell the two apart; of one name, with their revisions."""
    same = pair[0].name == pair[1].name
    names = [rubric.label if same else rubric.name for rubric in pair]
    return names if names[0] != names[1] else [f"{names[0]} (A)", f"{names[1]} (B)"]


def as_json(cards: list[tuple[Path, Scorecard]]) -> list[str]:
    """One object for one transcript; for several a list with the file beside each."""
    bodies = [card.model_dump(mode="json") for _, card in cards]
    if len(cards) == 1:
        return [json.dumps(bodies[0], indent=2)]
    return [json.dumps([{"file": str(path), **body} for (path, _), body in zip(cards, bodies, strict=True)], indent=2)]


def as_lines(cards: list[tuple[Path, Scorecard]]) -> list[str]:
    lines: list[str] = []
    for path, card in cards:
        marks = [
            f"  {one.title:<28} {'  – ' if not one.applicable else f'{one.score:4.2f}'}  {one.why}"
            for one in card.criteria.values()
        ]
        labels = f"  ({', '.join(card.labels)})" if card.labels else ""
        ignored = [f"  event {one.event} ({one.kind}) is of a kind that is not known here" for one in card.ignored]
        lines += [f"{path}  {100 * card.total:.0f}/100{labels}  by {card.rubric}@{card.rubric_revision}"]
        lines += [*marks, *ignored]
    return lines


def compared_json(found: list[Compared], names: list[str]) -> list[str]:
    rows = [
        {
            "file": str(one.path),
            names[0]: one.before.model_dump(mode="json"),
            names[1]: one.after.model_dump(mode="json"),
            "change": {"total": one.change.by, "because": one.change.because},
        }
        for one in found
    ]
    return [json.dumps(rows, indent=2)]


def compared_lines(found: list[Compared], names: list[str]) -> list[str]:
    """A line a transcript whose points change, the largest change first; then how many do not."""
    changed = [one for one in found if points(one.change.by)]
    changed.sort(key=lambda one: -abs(one.change.by))
    lines = [f"points by {names[0]} and by {names[1]}, what changes, and because of what"] if changed else []
    for one in changed:
        because = ", ".join(
            f"{part_title(one, part)} {points(by):+.1f}" for part, by in one.change.because.items() if points(by)
        )
        total = f"{100 * one.change.before:5.1f} {100 * one.change.after:5.1f} {100 * one.change.by:+6.1f}"
        lines.append(f"{one.path}  {total}  {because}")
    return [*lines, f"{len(found) - len(changed)} of {len(found)} unchanged"]


def points(share: float) -> float:
    """A share of the total in points of 100, as printed."""
    return round(100 * share, 1)


def part_title(one: Compared, part: str) -> str:
    if part in (HINTS, CAP):
        return {HINTS: "hints", CAP: "cap on a lucky answer"}[part]
    score = one.after.criteria.get(part) or one.before.criteria[part]
    return score.title or part
