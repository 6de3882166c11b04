"""The one global list of causes, from `causes.yaml`: what each is, here and on a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from scenarios import yamlfile
from scenarios.parts import Key, Short, Text

FILE = Path(__file__).with_name("causes.yaml")
HEALTHY = "healthy"

Family = Literal["host", "fabric", "job", "input", "checkpoint", "comparison"]
PlaceKind = Literal["rank", "host", "link", "none"]


class Cause(BaseModel):
    """A possible root cause. Its id is also the id of the fault that the lab injects, where it can."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    id: Key
    family: Family
    title: Short
    also: tuple[Short, ...] = Field(default=(), max_length=16, description="other words by which people look for it")
    description: Text
    on_lab: Text = Field(description="how the lab makes it; where it cannot, why not")
    on_nccl: Text = Field(description="where to look on a real cluster")
    place_kind: PlaceKind = Field(alias="place")
    named_only: bool = Field(default=False, description="the lab cannot inject it; candidates may name it")


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
