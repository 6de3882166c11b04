"""The one global list of causes, from `causes.yaml`: what each is, here and on a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from scenarios import yamlfile

FILE = Path(__file__).with_name("causes.yaml")
HEALTHY = "healthy"

Family = Literal["host", "fabric", "job", "input", "checkpoint", "comparison"]
PlaceKind = Literal["rank", "host", "link", "none"]


class Cause(BaseModel):
    """A possible root cause. Its id is also the id of the fault that the lab injects."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    id: str
    family: Family
    title: str
    description: str
    on_lab: str
    on_nccl: str
    place_kind: PlaceKind = Field(alias="place")


class Causes(RootModel[dict[str, Cause]]):
    """The whole file."""


def load(file: Path = FILE) -> dict[str, Cause]:
    """Causes by id, in the file's order. Raises ScenarioError with the line of what is wrong."""
    tree = yamlfile.read(file)
    for id, entry in tree.items():
        if isinstance(entry, dict):
            entry.setdefault("id", str(id))
    return yamlfile.validate(file, tree, Causes).root


CAUSES: dict[str, Cause] = load()
