"""Rubrics: `scenarios/rubrics/<name>.yaml`, older revisions beside it as `<name>@<n>.yaml`.

A scenario is scored by the rubric whose file names its track. A scorecard that was given keeps its rubric's revision.
"""

from __future__ import annotations

import functools
from pathlib import Path

from grader.rubric import Rubric
from scenarios import yamlfile
from scenarios.errors import ScenarioError, did_you_mean

FOLDER = Path(__file__).with_name("rubrics")


def names() -> list[str]:
    """Every rubric that is in force, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml") if "@" not in path.stem)


def get(name: str, revision: int | None = None) -> Rubric:
    """A rubric, the revision in force unless one is named. Raises ScenarioError where it is none or broken."""
    if name not in names():
        raise ScenarioError(f"{name}.yaml", None, f'there is no rubric "{name}"{did_you_mean(name, names())}')
    newest = load(FOLDER / f"{name}.yaml")
    if revision is None or newest.revision == revision:
        return newest
    older = FOLDER / f"{name}@{revision}.yaml"
    if not older.is_file():
        raise ScenarioError(f"{name}.yaml", None, f"revision {revision} is not kept; the newest is {newest.revision}")
    return load(older)


def named(name: str) -> Rubric:
    """The rubric of a name, of a revision as `standard@2`, or in a file. Raises ScenarioError."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml", ".json"):
        if not path.is_file():
            raise ScenarioError(path, None, "there is no such file; name a rubric or a YAML file of one")
        return load(path)
    stem, _, revision = name.partition("@")
    if revision and not revision.isdecimal():
        raise ScenarioError(f"{stem}.yaml", None, f'"{revision}" is no revision; write {stem}@2')
    return get(stem, int(revision) if revision else None)


def for_track(track: str) -> Rubric:
    """The rubric that scores a track. Raises ScenarioError where no file names it."""
    for name in names():
        if track in (found := get(name)).tracks:
            return found
    raise ScenarioError("rubrics", None, f'no rubric names track "{track}"; add it to the `tracks` of one')


def load(path: Path) -> Rubric:
    """The rubric in a file, JSON or YAML. Raises ScenarioError naming file, line and what is wrong."""
    return load_as_of(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=32)
def load_as_of(path: Path, mtime_ns: int) -> Rubric:
    rubric = yamlfile.validate(path, yamlfile.read(path), Rubric)
    # In the folder the name is the file's; a file for a comparison may be called anything.
    if path.parent == FOLDER and path.stem.partition("@")[0] != rubric.name:
        raise ScenarioError(path, None, f"name is {rubric.name}; call the file {rubric.name}.yaml")
    return rubric
