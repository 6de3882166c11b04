"""Scenarios of one table share its runs: what they say of setting, causes and fixes that both have must be the same.

Else the instance that one draws and the other finds in the bank would be another than its file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenarios import library, yamlfile
from scenarios.errors import ScenarioError, ScenarioErrors
from scenarios.format import Scenario

Difference = tuple[yamlfile.Loc, str]


def refuse_differences(path: Path, scenario: Scenario) -> None:
    """Raises ScenarioErrors with every difference between a file and the library's others of its table."""
    if found := differences(path, scenario):
        raise ScenarioErrors(found)


def differences(path: Path, scenario: Scenario) -> list[ScenarioError]:
    """The same as errors that name file and line, in the order of the file."""
    tree = yamlfile.read(path)
    found = [ScenarioError(path, yamlfile.line_of(tree, loc), text) for loc, text in disagreements(scenario)]
    return sorted(found, key=lambda error: error.line or 0)


def disagreements(scenario: Scenario) -> Iterator[Difference]:
    """Every difference to another scenario of the library that shares the table, as (where, what and the repair)."""
    for other in library.of_table(scenario.table):
        if (other.key, other.revision) != (scenario.key, scenario.revision):
            yield from between(scenario, other)


def between(scenario: Scenario, other: Scenario) -> Iterator[Difference]:
    """What two scenarios of one table say differently of the same thing. Pure."""
    whose = f"{other.key}@{other.revision}"
    repair = f"scenarios of table {scenario.table} share its runs: write the same, or give this one a table of its own"
    for loc, what, here, there in compared(scenario, other):
        if here != there:
            yield loc, f"{what} is {said(here)} here and {said(there)} in {whose}; {repair}"


def compared(scenario: Scenario, other: Scenario) -> Iterator[tuple[yamlfile.Loc, str, Any, Any]]:
    """(where, what, as it is here, as it is there) of all that decides what a run of the table is."""
    yield ("setting",), "setting", scenario.setting.model_dump(), other.setting.model_dump()
    theirs, fixes = {one.id: one for one in other.causes}, {one.id: one for one in other.fixes}
    both = [fix.id for fix in scenario.fixes if fix.id in fixes]
    for index, cause in enumerate(scenario.causes):
        if same := theirs.get(cause.id):
            for name in ("places", "params"):
                here, there = getattr(cause, name), getattr(same, name)
                yield ("causes", index, name), f'{name} of cause "{cause.id}"', here, there
            for fix in both:
                what = f'cause "{cause.id}" under fix "{fix}"'
                yield ("causes", index, "under"), what, cause.under.get(fix, {}), same.under.get(fix, {})
    for index, one in enumerate(scenario.fixes):
        if one.id in fixes:
            yield ("fixes", index), f'job of fix "{one.id}"', dict(one.job), dict(fixes[one.id].job)


def said(value: Any) -> str:
    """`{duty: [0.25, 0.34]}`: as a file would write it; `nothing` for what is empty."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {said(inner)}' for name, inner in value.items())}}}" if value else "nothing"
    if isinstance(value, list | tuple):
        return f"[{', '.join(said(inner) for inner in value)}]" if value else "nothing"
    return str(value)
