"""Golden transcripts: `scenarios/library/<track>/golden/<key>@<revision>/<kind>.json`, with `expected.yaml` beside.

A scenario's transcripts are files and nothing else; what lies there is found by itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

from grader.scorecard import Scorecard
from scenarios import grading, library, yamlfile
from scenarios.format import Scenario
from scenarios.knowledge import is_calibrated

INDEX = "expected.yaml"
# What a kind means, whatever the scenario: the total lies in here, and the labels are among those.
MEANS = {
    "best": (0.93, 1.0, set()),
    "good": (0.75, 0.92, set()),
    "poor": (0.0, 0.45, {"misled"}),
    "lucky": (0.0, 0.30, {"lucky"}),
    "box-ticking": (0.0, 0.60, {"misled"}),
}
WIDEST = 0.15  # a band that holds more says little

Share = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expected(Strict):
    at_least: Share
    at_most: Share
    labels: tuple[str, ...]


class Said(Strict):
    """The events behind a criterion's mark, and words that its sentence holds."""

    events: tuple[int, ...]
    words: str = Field(min_length=1)


class Entry(Strict):
    expect: Expected
    because: str = Field(min_length=20)
    says: dict[str, Said] = Field(min_length=1)


class Index(RootModel[dict[str, Entry]]):
    pass


@dataclass(frozen=True)
class Golden:
    """One transcript file; `of` is its scenario revision as `key@n`."""

    path: Path

    @property
    def of(self) -> str:
        return self.path.parent.name

    @property
    def kind(self) -> str:
        return self.path.stem

    @property
    def name(self) -> str:
        return f"{self.of}/{self.kind}"


def folder_of(scenario: Scenario) -> Path:
    """Where a revision's transcripts lie: a folder beside its file, which the library does not look into."""
    file = library.file_of(scenario.key, scenario.revision)
    return file.parent / "golden" / f"{scenario.key}@{scenario.revision}"


def folders() -> list[Path]:
    """Those that can be scored: the transcripts of an incident whose table is still being filled wait for it."""
    found = sorted(path for path in library.FOLDER.glob("*/golden/*") if path.is_dir())
    return [path for path in found if is_calibrated(library.named(path.name))]


def every() -> list[Golden]:
    return [Golden(path) for folder in folders() for path in sorted(folder.glob("*.json"))]


def read(golden: Golden) -> dict[str, Any]:
    return dict(json.loads(golden.path.read_text()))


@cache
def index_of(folder: Path) -> dict[str, Entry]:
    """What is expected of each kind. Raises ScenarioError with file and line."""
    path = folder / INDEX
    return yamlfile.validate(path, yamlfile.read(path), Index).root


@cache
def card(golden: Golden) -> Scorecard:
    return graded(read(golden), golden)


def graded(made: dict[str, Any], golden: Golden) -> Scorecard:
    """A transcript, or a change to it, by the scenario revision of its folder."""
    return grading.scorecard(made, library.named(golden.of))
