"""`manage.py grade TRANSCRIPT.json… [--compare RUBRIC_A RUBRIC_B] [--json]`: score attempts from the command line.

Exit codes: 0 fine, 2 a transcript that cannot be read or scored, with file, line and repair.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from ruamel.yaml import YAML

from grader.grade import grade
from grader.rubric import RUBRICS, STANDARD, Rubric, RubricError, rubric_from
from grader.scorecard import Scorecard
from grader.transcript import Transcript, TranscriptError, parse_transcript, transcript_schema
from scenarios import library
from scenarios.errors import BankIncomplete, ScenarioError
from scenarios.knowledge import knowledge_for

MISUSED = 2


class Command(BaseCommand):
    help = "Scores transcripts of attempts. docs/transcript.md describes their format."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="TRANSCRIPT.json")
        names = " or ".join(RUBRICS)
        parser.add_argument(
            "--compare", nargs=2, metavar=("RUBRIC_A", "RUBRIC_B"), help=f"{names}, or a JSON file of name and weights"
        )
        parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a transcript")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(json.dumps(transcript_schema(), indent=2))
            return
        if not options["files"]:
            raise CommandError("name at least one transcript file", returncode=MISUSED)
        rubrics = [named_rubric(name) for name in options["compare"] or [STANDARD.name]]
        graded = [(path, [self.one(path, rubric) for rubric in rubrics]) for path in options["files"]]
        for text in as_json(graded) if options["json"] else as_lines(graded):
            self.stdout.write(text)

    def one(self, path: Path, rubric: Rubric) -> Scorecard:
        try:
            transcript = read(path)
            knowledge = knowledge_for(library.get(transcript.scenario, transcript.revision))
            if transcript.calibration and transcript.calibration != knowledge.calibration:
                self.stderr.write(
                    f"{path}: taken under calibration {transcript.calibration}, scored by {knowledge.calibration}"
                )
            return grade(transcript, knowledge, rubric)
        except TranscriptError as wrong:
            raise CommandError(f"{place(path, wrong.event)}: {wrong}", returncode=MISUSED) from None
        except (ScenarioError, BankIncomplete) as wrong:
            raise CommandError(f"{path}: {wrong}", returncode=MISUSED) from None


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
    """A rubric by name, or from a JSON file `{name, weights}`."""
    if name in RUBRICS:
        return RUBRICS[name]
    try:
        return rubric_from(json.loads(Path(name).read_text()))
    except (OSError, json.JSONDecodeError, RubricError) as wrong:
        known = ", ".join(RUBRICS)
        raise CommandError(
            f"rubric {name!r} is neither {known} nor a file that can be read: {wrong}", returncode=MISUSED
        ) from None


def as_json(graded: list[tuple[Path, list[Scorecard]]]) -> list[str]:
    """One object for one transcript; for several, or to compare, a list with the file beside each."""
    bodies = [[card.model_dump(mode="json") for card in cards] for _, cards in graded]
    if len(graded) == 1 and len(bodies[0]) == 1:
        return [json.dumps(bodies[0][0], indent=2)]
    rows = [
        {"file": str(path), **({card["rubric"]: card for card in cards} if len(cards) > 1 else cards[0])}
        for (path, _), cards in zip(graded, bodies, strict=True)
    ]
    return [json.dumps(rows, indent=2)]


def as_lines(graded: list[tuple[Path, list[Scorecard]]]) -> list[str]:
    lines: list[str] = []
    for path, cards in graded:
        if len(cards) > 1:
            lines.append(f"{path}  " + "  ".join(f"{card.rubric} {100 * card.total:.0f}" for card in cards))
            continue
        card = cards[0]
        marks = [
            f"  {one.title:<28} {'  – ' if not one.applicable else f'{one.score:4.2f}'}  {one.why}"
            for one in card.criteria.values()
        ]
        labels = f"  ({', '.join(card.labels)})" if card.labels else ""
        lines += [f"{path}  {100 * card.total:.0f}/100{labels}", *marks]
    return lines
