"""Weights and limits of a rubric. Adding a criterion: one file in grader/criteria and its weight here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.criteria import (
    bisect,
    confirm,
    diagnosis,
    efficiency,
    prevention,
    quantify,
    repair,
    rule_outs,
    split,
)
from grader.criteria.base import Case, Mark

CRITERIA: dict[str, Callable[[Case], Mark]] = {
    "quantify": quantify.mark,
    "split": split.mark,
    "bisect": bisect.mark,
    "rule-outs": rule_outs.mark,
    "efficiency": efficiency.mark,
    "confirm": confirm.mark,
    "diagnosis": diagnosis.mark,
    "repair": repair.mark,
    "prevention": prevention.mark,
}

TITLES = {
    "quantify": "Floor first",
    "split": "Straggler or network",
    "bisect": "Bisect",
    "rule-outs": "What it rules out",
    "efficiency": "Information a minute",
    "confirm": "What it does, what changed",
    "diagnosis": "The cause",
    "repair": "Repair, verified",
    "prevention": "Next time",
}


@dataclass(frozen=True)
class Rubric:
    """Weights by criterion (they sum to 1), the cap on a lucky answer, and the price of hints by level."""

    name: str
    weights: Mapping[str, float]
    lucky_cap: float = 0.30
    hint_costs: Mapping[int, float] = field(default_factory=lambda: {1: 0.03, 2: 0.06, 3: 0.12})


STANDARD = Rubric(
    "standard",
    {
        "quantify": 0.22,
        "split": 0.10,
        "bisect": 0.10,
        "rule-outs": 0.20,
        "efficiency": 0.10,
        "confirm": 0.04,
        "diagnosis": 0.08,
        "repair": 0.10,
        "prevention": 0.06,
    },
)
EVEN = Rubric("even", {name: 1 / len(CRITERIA) for name in CRITERIA})
RUBRICS = {rubric.name: rubric for rubric in (STANDARD, EVEN)}


class RubricError(ValueError):
    """A rubric that cannot be used; the message names the field and the repair."""


def rubric_from(raw: Any) -> Rubric:
    """A rubric from JSON-like data `{name, weights: {criterion: share}}`; shares must sum to 1."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("weights"), Mapping):
        raise RubricError("a rubric is an object with name and weights")
    weights = dict(raw["weights"])
    for name, weight in weights.items():
        if name not in CRITERIA:
            raise RubricError(f"weights: {name!r} is no criterion; they are {', '.join(CRITERIA)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise RubricError(f"weights: {name}: must be a number from 0 to 1, not {weight!r}")
    if not math.isclose(sum(weights.values()), 1, abs_tol=1e-6):
        raise RubricError(f"weights: they sum to {sum(weights.values()):g}, and must sum to 1")
    return Rubric(str(raw.get("name", "unnamed")), weights)
