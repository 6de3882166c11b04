"""The library of design questions: `scenarios/design/<key>.yaml`, one file each, found by looking."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from scenarios import keyed_files
from scenarios.design_format import DesignQuestion

FOLDER = Path(__file__).with_name("design")


def load(path: Path) -> DesignQuestion:
    """One file. Raises ScenarioError with its line and the repair."""
    return keyed_files.load(path, DesignQuestion)


@functools.cache
def every() -> dict[str, DesignQuestion]:
    """Every question that can be read, by key; a broken one is taken down."""
    return keyed_files.every(FOLDER, DesignQuestion)


def fingerprint(question: DesignQuestion) -> str:
    """Changes with whatever a person reads or marks by."""
    return hashlib.sha256(question.model_dump_json(exclude={"source"}).encode()).hexdigest()[:16]
