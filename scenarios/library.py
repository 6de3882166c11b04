"""The library of incidents: `scenarios/library/<track>/<key>.yaml`, other revisions beside it as `<key>@<n>.yaml`.

Those are older ones, whose attempts keep their score, or the next one, which is not offered while its bank is filled.
"""

from __future__ import annotations

import functools
from pathlib import Path

from scenarios import tables_file, yamlfile
from scenarios.errors import ScenarioError, did_you_mean
from scenarios.format import Scenario

FOLDER = Path(__file__).with_name("library")


def files(folder: Path | None = None) -> dict[str, Path]:
    """The file of each scenario that is offered, by key."""
    found = sorted((folder or FOLDER).glob("*/*.yaml"))
    return {path.stem: path for path in found if "@" not in path.stem and path.is_file()}


def every(folder: Path | None = None) -> list[Scenario]:
    """Every scenario that can be read, older and coming revisions among them; broken ones are left out."""
    found = []
    for path in sorted((folder or FOLDER).glob("*/*.yaml")):
        try:
            found.append(load(path))
        except ScenarioError:
            continue
    return found


def keys() -> list[str]:
    """Every scenario's key."""
    return list(files())


def shipped() -> list[Scenario]:
    """Every scenario that is offered and calibrated, by key. Raises ScenarioError where one is broken."""
    return [one for one in map(get, keys()) if tables_file.path_of(one.table).is_file()]


def get(key: str, revision: int | None = None) -> Scenario:
    """A scenario, the revision that is offered unless one is named. Raises ScenarioError where it is none or broken."""
    offered = load(path_of(key))
    return offered if revision in (None, offered.revision) else load(file_of(key, revision or 0))


def file_of(key: str, revision: int) -> Path:
    """The file of a revision. Raises ScenarioError where it is not kept."""
    offered = load(path_of(key)).revision
    if revision == offered:
        return path_of(key)
    other = path_of(key).with_name(f"{key}@{revision}.yaml")
    if not other.is_file():
        raise ScenarioError(f"{key}.yaml", None, f"revision {revision} is not kept; the newest is {offered}")
    return other


def place_for(scenario: Scenario) -> Path:
    """Where a revision's file belongs: that of a new key is offered at once, a new revision of a known one is not."""
    known = files()
    if scenario.key not in known:
        return FOLDER / scenario.track / f"{scenario.key}.yaml"
    if load(known[scenario.key]).revision == scenario.revision:
        return known[scenario.key]
    return known[scenario.key].with_name(f"{scenario.key}@{scenario.revision}.yaml")


def named(name: str) -> Scenario:
    """The scenario of a key, or of a revision as `key@2`. Raises ScenarioError."""
    key, _, revision = name.partition("@")
    if revision and not revision.isdigit():
        raise ScenarioError(f"{key}.yaml", None, f'"{revision}" is no revision; write {key}@2')
    return get(key, int(revision) if revision else None)


def coming(key: str) -> list[int]:
    """Revisions beyond the one that is offered: complete files whose bank is still being filled."""
    offered = get(key).revision
    return sorted(one.revision for one in every() if one.key == key and one.revision > offered)


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
