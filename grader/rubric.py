"""A rubric: what each criterion weighs, its thresholds and its words. One small file a set (`scenarios/rubrics/`).

Adding a criterion is one file in `grader/criteria`; a rubric weighs it or not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from grader.criteria import CRITERIA
from grader.criteria.base import Frozen, Settings, Share
from grader.dimensions import DimensionName
from grader.labels import Lucky


def _thresholds() -> type[BaseModel]:
    """One field a criterion, each of its own settings: so that a wrong value is named where it stands."""
    from pydantic import create_model

    fields: dict[str, Any] = {
        id.replace("-", "_"): (one.settings, Field(default_factory=one.settings, alias=id))
        for id, one in CRITERIA.items()
    }
    return create_model("Thresholds", __base__=Frozen, **fields)


if TYPE_CHECKING:

    class Thresholds(BaseModel): ...

else:
    Thresholds = _thresholds()


class Rubric(BaseModel):
    """Weights by criterion (they sum to 1), thresholds and words, what luck and hints cost, and the dimensions."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
    revision: int = Field(default=1, ge=1, description="rises with every edit that could change a score")
    about: str = ""
    tracks: tuple[str, ...] = Field(default=(), description="whose attempts it scores; none: for comparisons")
    weights: dict[str, Share]
    lucky: Lucky = Lucky()
    hint_costs: dict[int, Share] = Field(default={1: 0.03, 2: 0.06, 3: 0.12}, description="by level")
    dimensions: dict[DimensionName, dict[str, Share]] = Field(
        default_factory=dict, description="shares of criteria in what interviewers note"
    )
    criteria: Thresholds = Field(default_factory=Thresholds, description="thresholds and words that differ")

    @field_validator("weights")
    @classmethod
    def weights_are_of_criteria_and_whole(cls, weights: dict[str, float]) -> dict[str, float]:
        refuse_unknown(weights)
        if not math.isclose(sum(weights.values()), 1, abs_tol=1e-6):
            raise ValueError(f"they sum to {sum(weights.values()):g}, and must sum to 1")
        return weights

    @field_validator("hint_costs")
    @classmethod
    def every_level_has_a_price(cls, costs: dict[int, float]) -> dict[int, float]:
        if set(costs) != {1, 2, 3}:
            raise ValueError(f"hints have levels 1, 2 and 3; priced are {', '.join(map(str, sorted(costs)))}")
        return costs

    @model_validator(mode="after")
    def dimensions_are_of_criteria(self) -> Rubric:
        for shares in self.dimensions.values():
            refuse_unknown(shares)
        return self

    @property
    def label(self) -> str:
        return f"{self.name}@{self.revision}"

    @property
    def settings(self) -> Mapping[str, Settings]:
        """The settings of every criterion, by id."""
        return {id: getattr(self.criteria, id.replace("-", "_")) for id in CRITERIA}


def refuse_unknown(names: Iterable[str]) -> None:
    for name in names:
        if name not in CRITERIA:
            raise ValueError(f'"{name}" is no criterion; they are {", ".join(CRITERIA)}')
