"""`manage.py scenario list|schema|check FILE…|bank|calibrate|prove|publish|export KEY|import FILE`: incidents.

Exit codes: 0 fine, 1 what was asked about does not hold, 2 bad usage or bad input, with file, line and repair.
"""

from __future__ import annotations

import json
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from scenarios import (
    archive,
    archive_in,
    calibrate,
    filling,
    library,
    offered,
    publish,
    reports,
    sharing,
    tables_file,
    told,
)
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete, ScenarioError, ScenarioErrors, did_you_mean
from scenarios.format import Scenario
from scenarios.proof import page, prove

WRONG, MISUSED = 1, 2


class Command(BaseCommand):
    help = "Lists, checks and calibrates incidents."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", default=False, help="print JSON")
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="every scenario").add_argument("--json", action="store_true", default=SUPPRESS)
        schema = actions.add_parser("schema", help="the JSON Schema of a scenario file")
        schema.add_argument("--write", action="store_true", help="writes scenarios/schema.json, which editors read")
        schema.add_argument("--json", action="store_true", default=SUPPRESS)
        check = actions.add_parser("check", help="whether files are sound; errors name file, line and repair")
        check.add_argument("files", nargs="*", type=Path, help="all of the library where none is named")
        check.add_argument("--json", action="store_true", default=SUPPRESS)
        proof = actions.add_parser("prove", help="whether an incident can be solved as it is meant to be")
        proof.add_argument("key", nargs="?", help="of the scenario, or of a coming revision as key@2")
        proof.add_argument("--write-docs", action="store_true", help="writes docs/proofs.md for all that is shipped")
        proof.add_argument("--json", action="store_true", default=SUPPRESS)
        for name, about in (
            ("publish", "offers a sound and proved revision, which never changes again"),
            ("export", "one incident with its calibration and runs as one file"),
        ):
            parser = actions.add_parser(name, help=about)
            parser.add_argument("key", help="of the scenario, or of another revision as key@2")
            parser.add_argument("--json", action="store_true", default=SUPPRESS)
            if name == "export":
                parser.add_argument("--to", type=Path, metavar="FILE", help="default: key@revision.zip in this folder")
        brought = actions.add_parser("import", help="bring in an exported incident; nothing that is here is replaced")
        brought.add_argument("file", type=Path)
        brought.add_argument("--json", action="store_true", default=SUPPRESS)
        self.add_filling(actions.add_parser("bank", help="fill the bank of whole runs"))
        self.add_filling(actions.add_parser("calibrate", help="fill the bank, then build the tables"))

    def add_filling(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", help="of the scenario, or of a coming revision as key@2")
        parser.add_argument("--runs", type=int, default=8, metavar="N", help="instances a cause (default 8)")
        about = "how many of them get every run that an attempt may ask for (default 3); the others serve calibration"
        parser.add_argument("--whole", type=int, default=3, metavar="N", help=about)
        about = "instances of each pair of causes that a curveball may combine (default 0)"
        parser.add_argument("--pairs", type=int, default=0, metavar="N", help=about)
        about = "an experiment that all instances get, where a few runs cannot tell a cause (may be repeated)"
        parser.add_argument("--also", action="append", default=[], metavar="EXPERIMENT", help=about)
        about = "only runs of this cause (may be repeated)"
        parser.add_argument("--cause", action="append", default=[], metavar="CAUSE", help=about)
        parser.add_argument("--plan", action="store_true", help="print which runs are lacking and how long they take")
        parser.add_argument("--seconds", type=float, default=None, metavar="S", help="fill for at most so many seconds")
        parser.add_argument("--seed", default=None, help="of new draws (default: the table's name)")
        parser.add_argument("--json", action="store_true", default=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        action = getattr(self, f"do_{options['action']}")
        try:
            action(options)
        except ScenarioErrors as broken:
            raise CommandError("\n".join(str(error) for error in broken.errors), returncode=MISUSED) from None
        except ScenarioError as broken:
            raise CommandError(str(broken), returncode=MISUSED) from None
        except BankIncomplete as lacking:
            raise CommandError(str(lacking), returncode=WRONG) from None

    def do_list(self, options: dict[str, Any]) -> None:
        found = [{**told.about(library.get(key)), "coming": told.coming(key)} for key in library.keys()]
        lines = [f"{one['key']}  revision {one['revision']}  {one['track']}  {one['title']}" for one in found]
        lines += [told.coming_line(one["key"], next) for one in found for next in one["coming"]]
        # Incidents of which no revision can be practised yet: for people; what is listed as JSON can be.
        lines += [told.coming_line(key, next) for key in library.coming_keys() for next in told.coming(key)]
        self.say(options, found, lines)

    def do_schema(self, options: dict[str, Any]) -> None:
        if options["write"]:
            told.SCHEMA.write_text(told.schema_text(), encoding="utf-8")
        else:
            self.stdout.write(told.schema_text(), ending="")

    def do_check(self, options: dict[str, Any]) -> None:
        paths = options["files"] or sorted(library.FOLDER.glob("*/*.yaml"))
        found = {str(path): told.problems_of(path) for path in paths}
        self.say(options, [{"file": file, "errors": errors} for file, errors in found.items()], [])
        errors = [error for listed in found.values() for error in listed]
        if errors:
            raise CommandError("\n".join(errors), returncode=MISUSED)
        if not options["json"]:
            self.stdout.write(f"{len(paths)} sound")

    def do_prove(self, options: dict[str, Any]) -> None:
        if options["write_docs"]:
            file = settings.BASE_DIR / "docs" / "proofs.md"
            file.write_text(page.page([prove(one) for one in library.shipped()]), encoding="utf-8")
        if options["key"]:
            proof = prove(library.named(options["key"]))
            self.say(options, proof.as_json(), list(page.lines(proof)))
            if not proof.holds:
                raise CommandError("the proof does not hold", returncode=WRONG)
        elif not options["write_docs"]:
            raise CommandError("name the scenario to prove, or --write-docs", returncode=MISUSED)

    def do_publish(self, options: dict[str, Any]) -> None:
        scenario = library.named(options["key"])
        problems = told.problems_of(library.file_of(scenario.key, scenario.revision))
        if problems:
            raise CommandError("\n".join(problems), returncode=MISUSED)
        proof = prove(scenario)
        if not proof.holds:
            raise CommandError("\n".join(["the proof does not hold", *page.lines(proof)]), returncode=WRONG)
        file = publish.publish(scenario)
        state = {"key": scenario.key, "revision": scenario.revision, "file": str(file)}
        self.say(options, state, [f"{scenario.key} revision {scenario.revision} is offered, from {file.name}"])

    def do_export(self, options: dict[str, Any]) -> None:
        scenario = library.named(options["key"])
        file = options["to"] or Path(f"{scenario.key}@{scenario.revision}.zip")
        with files_named():
            manifest = archive.export(scenario, file)
        said = f"{file}: {len(manifest.members)} members, {file.stat().st_size / 1e6:.2f} MB"
        self.say(options, {"file": str(file), **manifest.model_dump()}, [said])

    def do_import(self, options: dict[str, Any]) -> None:
        with files_named():
            brought = archive_in.import_archive(options["file"])
        scenario = brought.scenario
        state = {"key": scenario.key, "revision": scenario.revision, "file": str(brought.file)}
        said = f"{scenario.key} revision {scenario.revision}: {brought.written} new files, {brought.file.name}"
        self.say(options, {**state, "written": brought.written}, [said])

    def do_bank(self, options: dict[str, Any]) -> None:
        scenario = library.named(options["key"])
        if options["plan"]:
            return self.show_plan(scenario, options)
        filled = self.fill(scenario, options)
        size = sum(filling.sizes(scenario.table))
        state = {"made": filled.made, "left": filled.left, "given_up": filled.given_up, "bytes": size}
        self.say(options, state, [f"{filled.made} runs made, {filled.left} left, the bank holds {size / 1e6:.2f} MB"])
        if filled.given_up:
            raise CommandError("\n".join(filled.given_up), returncode=WRONG)

    def do_calibrate(self, options: dict[str, Any]) -> None:
        scenario = library.named(options["key"])
        if options["plan"]:
            return self.show_plan(scenario, options)
        filled = self.fill(scenario, options)
        for given_up in filled.given_up:
            self.stderr.write(f"given up: {given_up}")
        calibration = calibrate.calibrate(scenario, now=timezone.now())
        path = tables_file.save(calibration)
        found = {**calibration.reports, **reports.of_scenario(scenario, calibration)}
        self.say(options, {"file": str(path), "digest": calibration.digest, **found}, told.summary(calibration, found))

    def plan(self, scenario: Scenario, options: dict[str, Any]) -> list[filling.Wanted]:
        for name in ("runs", "whole"):
            if options[name] < 1:
                raise CommandError(f"--{name} is {options[name]}; it must be at least 1", returncode=MISUSED)
        if options["pairs"] and not scenario.pairs:
            raise CommandError(f"{scenario.key} names no `pairs` that a curveball may combine", returncode=MISUSED)
        refuse_unknown("experiment", options["also"], offered.experiments_for(scenario))
        refuse_unknown("cause", options["cause"], [HEALTHY, *scenario.prior])
        sharing.refuse_differences(library.file_of(scenario.key, scenario.revision), scenario)
        whole, seed = min(options["whole"], options["runs"]), options["seed"] or scenario.table
        plan = filling.wanted_runs(scenario, options["runs"], whole, seed, options["also"])
        plan += filling.wanted_pairs(scenario, options["pairs"], seed) if options["pairs"] else []
        return [one for one in plan if not options["cause"] or one.instance.cause in options["cause"]]

    def show_plan(self, scenario: Scenario, options: dict[str, Any]) -> None:
        lines = filling.plan_lines(self.plan(scenario, options))
        self.say(options, lines, lines)

    def fill(self, scenario: Scenario, options: dict[str, Any]) -> filling.Filled:
        plan = self.plan(scenario, options)
        if not plan:
            return filling.Filled()
        from gpu_worker.errors import LabError
        from gpu_worker.lab import run as lab

        self.stderr.write(f"{len(plan)} runs are lacking, about {filling.minutes(sum(filling.usual_s(plan)))}")
        try:
            return filling.fill(plan, lab.run_experiment, self.tell, for_s=options["seconds"])
        except LabError as unavailable:
            raise CommandError(unavailable.reason, returncode=WRONG) from None
        finally:
            lab.close()

    def tell(self, line: str) -> None:
        self.stderr.write(line)
        self.stderr.flush()

    def say(self, options: dict[str, Any], value: Any, lines: list[str]) -> None:
        """JSON where it was asked for, else lines."""
        for line in [json.dumps(value, indent=2)] if options["json"] else lines:
            self.stdout.write(line)


def refuse_unknown(what: str, names: list[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            said = f'the scenario has no {what} "{name}"{did_you_mean(name, known)}'
            raise CommandError(said, returncode=MISUSED)


@contextmanager
def files_named() -> Iterator[None]:
    """A file that cannot be read or written is bad input, not a fault of ours."""
    try:
        yield
    except OSError as failed:
        raise CommandError(f"{failed.filename}: {failed.strerror}", returncode=MISUSED) from None
