"""The template of a quantity's drills at one level, as the modules of `about` declare it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from grader.drills.base import Law, Level, Sketch
from grader.drills.picking import Pick
from grader.quantities.base import Quantity

Sketcher: TypeAlias = Callable[[Pick, Law], Sketch]


@dataclass(frozen=True)
class Template:
    """How drills of one quantity and level are made."""

    quantity: Quantity
    level: Level
    sketch: Sketcher


def template(quantity: Quantity, level: Level) -> Callable[[Sketcher], Template]:
    """Makes a function `(pick, law) -> Sketch` the template of a quantity at a level."""
    return lambda sketch: Template(quantity, level, sketch)
