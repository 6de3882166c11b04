"""The library of incidents: `scenarios/library/<track>/<key>.yaml`, other revisions beside it as `<key>@<n>.yaml`.

Those are older ones, whose attempts keep their score, or the next one, which is not offered while its bank is filled. A
new incident begins as `<key>@1.yaml`.
"""

from __future__ import annotations

import functools
from pathlib import Path

from scenarios import yamlfile
from scenarios.errors import ScenarioError, did_you_mean
from scenarios.format import Scenario

FOLDER = Path(__file__).with_name("library")


def files(folder: Path | None = None) -> dict[str, Path]:
    """The file of each scenario that is offered, by key."""
    return {path.stem: path for path in every_file(folder) if "@" not in path.stem}


def every_file(folder: Path | None = None) -> list[Path]:
    """Every file of the library, older and coming revisions among them."""
    return [path for path in sorted((folder or FOLDER).glob("*/*.yaml")) if path.is_file()]


def every(folder: Path | None = None) -> list[Scenario]:
    """Every scenario that can be read, older and coming revisions among them; broken ones are left out."""
    found = []
    for path in every_file(folder):
        try:
            found.append(load(path))
        except ScenarioError:
            continue
    return found


def of_table(table: str) -> list[Scenario]:
    """The scenarios of any revision that share a table."""
    return [one for one in every() if one.table == table]


def keys() -> list[str]:
    """The key of every scenario that is offered."""
    return list(files())


def coming_keys() -> list[str]:
    """Keys of incidents of which no revision is offered yet."""
    return sorted({path.stem.partition("@")[0] for path in every_file()} - files().keys())


def shipped() -> list[Scenario]:
    """Every scenario that is offered and calibrated, by key. Raises ScenarioError where one is broken."""
    from scenarios.knowledge import is_calibrated

    return [one for one in map(get, keys()) if is_calibrated(one)]


def get(key: str, revision: int | None = None) -> Scenario:
    """A scenario, the revision that is offered unless one is named. Raises ScenarioError where it is none or broken."""
    return load(path_of(key) if revision is None else file_of(key, revision))


def file_of(key: str, revision: int) -> Path:
    """The file of a revision. Raises ScenarioError where it is not kept."""
    offered = files().get(key)
    if offered is not None and load(offered).revision == revision:
        return offered
    others = {int(path.stem.partition("@")[2]): path for path in beside(key)}
    if revision in others:
        return others[revision]
    newest = load(path_of(key)).revision if offered is not None or not others else max(others)
    raise ScenarioError(f"{key}.yaml", None, f"revision {revision} is not kept; the newest is {newest}")


def beside(key: str) -> list[Path]:
    """Files of a key's revisions that are not offered."""
    named = (path for path in every_file() if path.stem.partition("@")[0] == key)
    return [path for path in named if path.stem.partition("@")[2].isdigit()]


def place_for(scenario: Scenario) -> Path:
    """Where a revision's file belongs: that of a new key is offered at once, a new revision of a known one is not."""
    known, next_to_it = files(), f"{scenario.key}@{scenario.revision}.yaml"
    here = [path for path in beside(scenario.key) if path.name == next_to_it]
    if here or scenario.key not in known:
        return here[0] if here else FOLDER / scenario.track / f"{scenario.key}.yaml"
    if load(known[scenario.key]).revision == scenario.revision:
        return known[scenario.key]
    return known[scenario.key].with_name(next_to_it)


def named(name: str) -> Scenario:
    """The scenario of a key, or of a revision as `key@2`; of a key not offered yet its newest. Raises ScenarioError."""
    key, _, revision = name.partition("@")
    if revision and not revision.isdigit():
        raise ScenarioError(f"{key}.yaml", None, f'"{revision}" is no revision; write {key}@2')
    if not revision and key not in files() and (waiting := coming(key)):
        return get(key, waiting[-1])
    return get(key, int(revision) if revision else None)


def coming(key: str) -> list[int]:
    """Revisions beyond the one that is offered, if one is: complete files whose bank is still being filled."""
    offered = get(key).revision if key in files() else 0
    return sorted(one.revision for one in every() if one.key == key and one.revision > offered)


def is_coming(scenario: Scenario) -> bool:
    """Whether it is newer than what is offered of its key."""
    return scenario.revision in coming(scenario.key)


def path_of(key: str) -> Path:
    """The file of the revision that is offered. Raises ScenarioError where none is."""
    known = files()
    if key in known:
        return known[key]
    if key in coming_keys():
        said = f"it is not offered yet; name a revision, like {key}@{coming(key)[-1] if coming(key) else 1}"
        raise ScenarioError(f"{key}.yaml", None, said)
    near = did_you_mean(key, [*known, *coming_keys()])
    raise ScenarioError(f"{key}.yaml", None, f'there is no scenario "{key}"{near}')


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
