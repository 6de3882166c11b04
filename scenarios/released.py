"""Released revisions: what attempts were scored by never changes. `scenarios/released.json` holds a digest of each.

The digest is of what a file says, not of its bytes: comments and layout may be mended.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from scenarios.format import Scenario

FILE = Path(__file__).with_name("released.json")


def digest_of(scenario: Scenario) -> str:
    """Changes with anything that the file says, and with the steps that it gets where it names none."""
    said = {**scenario.model_dump(mode="json", exclude_unset=True), "steps": list(scenario.steps)}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def name_of(scenario: Scenario) -> str:
    return f"{scenario.key}@{scenario.revision}"


def digests(file: Path | None = None) -> dict[str, str]:
    """Digest of each released revision, by `key@revision`."""
    file = file or FILE
    return dict(json.loads(file.read_text())) if file.is_file() else {}


def is_released(scenario: Scenario) -> bool:
    return name_of(scenario) in digests()


def is_changed(scenario: Scenario) -> bool:
    """Whether it is a released revision that no longer says what it said."""
    return digests().get(name_of(scenario), digest_of(scenario)) != digest_of(scenario)


def problem(scenario: Scenario) -> str | None:
    """Why the revision may not stand as it is, and what to do; None where it may."""
    if not is_changed(scenario):
        return None
    newest = max(int(name.partition("@")[2]) for name in digests() if name.partition("@")[0] == scenario.key)
    said = f"revision {scenario.revision} is released and may not change"
    return f"{said}; write the edit as {scenario.key}@{newest + 1}.yaml, revision {newest + 1}"


def record(scenario: Scenario) -> None:
    """Notes a revision as released. Whole or not at all; one that is there already stays as it is."""
    kept = {name_of(scenario): digest_of(scenario), **digests()}
    part = FILE.with_suffix(".part")
    part.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    os.replace(part, FILE)
