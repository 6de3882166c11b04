"""Small libraries of one kind of exercise: a folder of `<key>.yaml`, one file each, found by looking."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from scenarios import yamlfile
from scenarios.errors import ScenarioError

log = logging.getLogger(__name__)
Form = TypeVar("Form", bound=BaseModel)


def load(path: Path, form: type[Form]) -> Form:
    """One file, whose key is its name. Raises ScenarioError with its line and the repair."""
    tree = yamlfile.read(path)
    tree.setdefault("key", path.stem)
    if str(tree["key"]) != path.stem:
        line = yamlfile.line_of(tree, ["key"])
        raise ScenarioError(path, line, f'key is "{tree["key"]}" in a file named {path.stem}; leave it out')
    return yamlfile.validate(path, tree, form)


def every(folder: Path, form: type[Form]) -> dict[str, Form]:
    """Every file that can be read, by key; a broken one is taken down, and the log names its line and repair."""
    found: dict[str, Form] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            found[path.stem] = load(path, form)
        except ScenarioError as broken:
            log.error("left out: %s", broken)
    return found
