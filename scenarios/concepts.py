"""The library of concept exercises: `scenarios/concepts/<key>.yaml`, one file each, found by looking."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from scenarios import keyed_files
from scenarios.concept_format import Concept

FOLDER = Path(__file__).with_name("concepts")


def load(path: Path) -> Concept:
    """One file. Raises ScenarioError with its line and the repair."""
    return keyed_files.load(path, Concept)


@functools.cache
def every() -> dict[str, Concept]:
    """Every exercise that can be read, by key; a broken one is taken down."""
    return keyed_files.every(FOLDER, Concept)


def get(key: str) -> Concept | None:
    """The exercise of this key, None where there is none or it is broken."""
    return every().get(key)


def fingerprint(concept: Concept) -> str:
    """Changes with whatever a person reads or is judged by."""
    return hashlib.sha256(concept.model_dump_json(exclude={"lab", "source"}).encode()).hexdigest()[:16]
