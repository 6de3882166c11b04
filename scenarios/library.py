"""The library of incidents: `scenarios/library/<track>/<key>.yaml`, older revisions beside it as `<key>@<n>.yaml`."""

from __future__ import annotations

import functools
from pathlib import Path

from scenarios import yamlfile
from scenarios.errors import ScenarioError, did_you_mean
from scenarios.format import Scenario

FOLDER = Path(__file__).with_name("library")


def files(folder: Path = FOLDER) -> dict[str, Path]:
    """The newest file of each scenario by key."""
    return {path.stem: path for path in sorted(folder.glob("*/*.yaml")) if "@" not in path.stem}


def keys() -> list[str]:
    """Every scenario's key."""
    return list(files())


def get(key: str, revision: int | None = None) -> Scenario:
    """A scenario, the newest revision unless one is named. Raises ScenarioError where there is none or it is broken."""
    newest = load(path_of(key))
    if revision is None or newest.revision == revision:
        return newest
    older = path_of(key).with_name(f"{key}@{revision}.yaml")
    if not older.is_file():
        raise ScenarioError(f"{key}.yaml", None, f"revision {revision} is not kept; the newest is {newest.revision}")
    return load(older)


def path_of(key: str) -> Path:
    known = files()
    if key not in known:
        raise ScenarioError(f"{key}.yaml", None, f'there is no scenario "{key}"{did_you_mean(key, known)}')
    return known[key]


def load(path: Path) -> Scenario:
    """The scenario in a file, with every reference checked. Raises ScenarioError naming file, line and repair."""
    return load_as_of(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def load_as_of(path: Path, mtime_ns: int) -> Scenario:
    from scenarios import checks

    tree = yamlfile.read(path)
    scenario = yamlfile.validate(path, tree, Scenario)
    checks.refuse_broken(path, tree, scenario)
    return scenario
