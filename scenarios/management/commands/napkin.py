"""`manage.py napkin QUANTITY k=v … [--json]`: what training should cost. `napkin` alone lists the quantities.

Exit codes: 0 fine, 2 a question that cannot be answered, with one line that names the argument and the repair.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from functools import partial
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from grader.napkin.asking import QuestionError, answer, named
from grader.napkin.page import as_json, described, listed, page
from grader.quantities import QUANTITIES

MISUSED = 2


class Command(BaseCommand):
    help = "What collectives, memory, pipelines and checkpoints should cost. docs/napkin.md has every quantity."
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Else `--json` between the quantity and its arguments would cut them off.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        parser.error = partial(self.refuse, parser)  # type: ignore[method-assign]
        return parser

    def refuse(self, parser: CommandParser, message: str) -> NoReturn:
        """One line, where argparse would print its usage before it."""
        line = f"napkin: {message}; arguments are written name=value, as `napkin QUANTITY` shows"
        if parser.called_from_command_line:
            parser.exit(MISUSED, f"{line}\n")
        raise CommandError(line, returncode=MISUSED)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("quantity", nargs="?", metavar="QUANTITY", help="without it, all are listed")
        parser.add_argument("words", nargs="*", metavar="name=value", help="without any, the quantity is described")
        parser.add_argument("--json", action="store_true", help="print JSON, values in base units")
        parser.add_argument("--write-docs", action="store_true", help="write docs/napkin.md from the declarations")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found, lines = self.asked(options)
        except QuestionError as wrong:
            raise CommandError(str(wrong), returncode=MISUSED) from None
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else "\n".join(lines))

    def asked(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        """What was asked for, as JSON and in lines."""
        if options["write_docs"]:
            path = settings.BASE_DIR / "docs" / "napkin.md"
            path.write_text(page())
            return {"file": str(path)}, [f"wrote {path}"]
        if not options["quantity"]:
            return [as_json(one) for one in QUANTITIES.values()], listed()
        quantity = named(options["quantity"])
        if not options["words"]:
            return as_json(quantity), described(quantity)
        given = answer(quantity, options["words"])
        return given.as_json(), [*given.lines(), "", f"formula  {quantity.formula}", f"source   {quantity.source}"]
