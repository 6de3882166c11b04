"""What the command line tells of incidents: JSON-ready values, and lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scenarios import bank, checks, concepts, design_questions, library, released, sharing, tables_file, yamlfile
from scenarios.errors import ScenarioError, ScenarioErrors
from scenarios.format import Scenario
from scenarios.knowledge import is_calibrated

SCHEMA = Path(__file__).with_name("schema.json")
SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text() -> str:
    """The JSON Schema of a scenario file, as scenarios/schema.json publishes it."""
    schema = Scenario.model_json_schema(by_alias=True)
    return json.dumps({"$schema": SCHEMA_DIALECT, **schema}, indent=2) + "\n"


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
    ready = {one.cause for one in bank.complete_instances(scenario)} & set(scenario.prior)
    calibrated = is_calibrated(scenario)
    return {"revision": scenario.revision, "causes": len(scenario.prior), "ready": len(ready), "calibrated": calibrated}


def coming_line(key: str, next: dict[str, Any]) -> str:
    state = f"{next['ready']} of {next['causes']} causes banked, {'' if next['calibrated'] else 'not yet '}calibrated"
    return f"{key}  revision {next['revision']}  not offered: {state}"


def problems_of(path: Path) -> list[str]:
    """What is wrong with a file, one line each."""
    if not path.is_file():
        return [f"{path}: there is no such file"]
    try:
        if path.absolute().parent.name == concepts.FOLDER.name:
            concepts.load(path)
            return []
        if path.absolute().parent.name == design_questions.FOLDER.name:
            design_questions.load(path)
            return []
        scenario = library.load(path)
    except ScenarioErrors as broken:
        return [str(error) for error in broken.errors]
    except ScenarioError as broken:
        return [str(broken)]
    changed = released.problem(scenario)
    return [
        *([f"{path.name}:{revision_line(path)}: {changed}"] if changed else []),
        *(str(error) for error in sharing.differences(path, scenario)),
        *checks.tables_problems(path, scenario),
    ]


def revision_line(path: Path) -> int:
    return yamlfile.line_of(yamlfile.read(path), ["revision"])


def summary(calibration: tables_file.Calibration, reports: dict[str, Any]) -> list[str]:
    """The calibration in lines: runs, useful work, what each variant shows, the worth of a scenario's first steps."""
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
