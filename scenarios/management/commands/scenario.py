"""`manage.py scenario list|schema|check FILE…|bank KEY|calibrate KEY`: incidents from the command line.

Exit codes: 0 fine, 1 what was asked about does not hold, 2 bad usage or bad input, with file, line and repair.
"""

from __future__ import annotations

import json
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from scenarios import bank, calibrate, checks, filling, library, tables_file
from scenarios.errors import BankIncomplete, ScenarioError, ScenarioErrors
from scenarios.format import Scenario

WRONG, MISUSED = 1, 2
SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Command(BaseCommand):
    help = "Lists, checks and calibrates incidents."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", default=False, help="print JSON")
        actions = parser.add_subparsers(dest="action", required=True)
        for name, about in (("list", "every scenario"), ("schema", "the JSON Schema of a scenario file")):
            actions.add_parser(name, help=about).add_argument("--json", action="store_true", default=SUPPRESS)
        check = actions.add_parser("check", help="whether files are sound; errors name file, line and repair")
        check.add_argument("files", nargs="*", type=Path, help="all of the library where none is named")
        check.add_argument("--json", action="store_true", default=SUPPRESS)
        self.add_filling(actions.add_parser("bank", help="fill the bank of whole runs"))
        self.add_filling(actions.add_parser("calibrate", help="fill the bank, then build the tables"))

    def add_filling(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", help="of the scenario, or of a coming revision as key@2")
        parser.add_argument("--runs", type=int, default=8, metavar="N", help="instances a cause (default 8)")
        about = "how many of them get every run that an attempt may ask for (default 3); the others serve calibration"
        parser.add_argument("--whole", type=int, default=3, metavar="N", help=about)
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
        found = [{**about(library.get(key)), "coming": coming(key)} for key in library.keys()]
        lines = [f"{one['key']}  revision {one['revision']}  {one['track']}  {one['title']}" for one in found]
        lines += [coming_line(one["key"], next) for one in found for next in one["coming"]]
        self.say(options, found, lines)

    def do_schema(self, options: dict[str, Any]) -> None:
        schema = Scenario.model_json_schema(by_alias=True)
        self.stdout.write(json.dumps({"$schema": SCHEMA_DIALECT, **schema}, indent=2))

    def do_check(self, options: dict[str, Any]) -> None:
        paths = options["files"] or sorted(library.FOLDER.glob("*/*.yaml"))
        found = {str(path): problems_of(path) for path in paths}
        self.say(options, [{"file": file, "errors": errors} for file, errors in found.items()], [])
        errors = [error for listed in found.values() for error in listed]
        if errors:
            raise CommandError("\n".join(errors), returncode=MISUSED)
        if not options["json"]:
            self.stdout.write(f"{len(paths)} sound")

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
        told = {"file": str(path), "digest": calibration.digest, **calibration.reports}
        self.say(options, told, summary(calibration))

    def plan(self, scenario: Scenario, options: dict[str, Any]) -> list[filling.Wanted]:
        for name in ("runs", "whole"):
            if options[name] < 1:
                raise CommandError(f"--{name} is {options[name]}; it must be at least 1", returncode=MISUSED)
        whole = min(options["whole"], options["runs"])
        return filling.wanted_runs(scenario, options["runs"], whole, options["seed"] or scenario.table)

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


def about(scenario: Scenario) -> dict[str, Any]:
    return {
        "key": scenario.key,
        "revision": scenario.revision,
        "title": scenario.title,
        "track": scenario.track,
        "level": scenario.level,
        "table": scenario.table,
        "causes": list(scenario.prior),
    }


def coming(key: str) -> list[dict[str, Any]]:
    """Revisions that are not offered yet, and how far their bank and table are."""
    return [how_far(library.get(key, revision)) for revision in library.coming(key)]


def how_far(scenario: Scenario) -> dict[str, Any]:
    ready = {one.cause for one in bank.complete_instances(scenario.table)} & set(scenario.prior)
    calibrated = tables_file.path_of(scenario.table).is_file()
    return {"revision": scenario.revision, "causes": len(scenario.prior), "ready": len(ready), "calibrated": calibrated}


def coming_line(key: str, next: dict[str, Any]) -> str:
    state = f"{next['ready']} of {next['causes']} causes banked, {'' if next['calibrated'] else 'not yet '}calibrated"
    return f"{key}  revision {next['revision']}  not offered: {state}"


def problems_of(path: Path) -> list[str]:
    """What is wrong with a file, one line each."""
    if not path.is_file():
        return [f"{path}: there is no such file"]
    try:
        scenario = library.load(path)
    except ScenarioErrors as broken:
        return [str(error) for error in broken.errors]
    except ScenarioError as broken:
        return [str(broken)]
    return checks.tables_problems(path, scenario)


def summary(calibration: tables_file.Calibration) -> list[str]:
    """The calibration in lines: runs, useful work, what each variant shows, the worth of first steps."""
    reports = calibration.reports
    lines = [f"{calibration.table} {calibration.digest}"]
    lines.append(f"runs: {', '.join(f'{cause} {count}' for cause, count in calibration.runs.items())}")
    for cause, work in reports["useful_work"].items():
        lines.append(f"useful work under {cause}: {work['median']:.2f} ({work['lowest']:.2f} to {work['highest']:.2f})")
    for name, variant in reports["variants"].items():
        lines += variant_lines(name, variant)
    for cell in reports["fixes"]:
        if cell["measured"] != cell["declared"]:
            lines.append(
                f"{cell['fix']} under {cell['cause']} is said to be {cell['declared']}, was {cell['measured']}"
            )
    lines.append(f"symptom tells {reports['symptom_bits']:.2f} bits")
    for step in reports["first_steps"]:
        worth = f"{step['bits']:.2f} bits in {step['minutes']:g} min, {step['bits_a_minute']:.3f} a minute"
        lines.append(f"first step {step['step']}: {worth}")
    return lines


def variant_lines(name: str, variant: dict[str, Any]) -> list[str]:
    false = variant["healthy_false_rate"]
    lines = [f"{name}: log-loss {variant['log_loss_bits']:.2f} bits, healthy false {0 if false is None else false:.2f}"]
    for cause, cell in variant["causes"].items():
        seen = ", ".join(f"{finding} {count}" for finding, count in cell["seen"].items())
        lines.append(f"    {cause}: {seen}; {cell['basis']} on {cell['runs']} runs")
    return lines
