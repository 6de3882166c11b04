"""The library of design questions: `scenarios/design/<key>.yaml`, one file each, found by looking."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from scenarios import yamlfile
from scenarios.design_format import DesignQuestion
from scenarios.errors import ScenarioError

FOLDER = Path(__file__).with_name("design")


def load(path: Path) -> DesignQuestion:
    """One file. Raises ScenarioError with its line and the repair."""
    tree = yamlfile.read(path)
    tree.setdefault("key", path.stem)
    if str(tree["key"]) != path.stem:
        line = yamlfile.line_of(tree, ["key"])
        raise ScenarioError(path, line, f'key is "{tree["key"]}" in a file named {path.stem}; leave it out')
    return yamlfile.validate(path, tree, DesignQuestion)


@functools.cache
def every() -> dict[str, DesignQuestion]:
    """Every question that can be read, by key; a broken one is taken down."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        try:
            found[path.stem] = load(path)
        except ScenarioError:
            continue
    return found


def fingerprint(question: DesignQuestion) -> str:
    """Changes with whatever a person reads or marks by."""
    return hashlib.sha256(question.model_dump_json(exclude={"source"}).encode()).hexdigest()[:16]
