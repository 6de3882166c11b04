"""From a quantity, a level and a seed to a drill. Templates are found by looking: one new file of `about` is enough."""

from __future__ import annotations

import hashlib
import math
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from grader.drills import about
from grader.drills.base import Drill, Law, Sketch, Slip
from grader.drills.picking import Pick
from grader.drills.template import Template

# Relative, by level. Every named slip lies farther off: GiB for GB is 7.4 %.
TOLERANCE = {1: 0.03, 2: 0.04, 3: 0.05}
# Slower than this and the answer was worked out, not known.
SLOW_AFTER_S = {1: 60, 2: 120, 3: 180}
# How near to a slip's value an answer has to be to be called that slip.
SLIP_WITHIN = 0.02
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Topic:
    """Quantities about one idea, under the title that a page shows."""

    id: str
    title: str
    quantities: tuple[str, ...]


def _modules() -> dict[str, ModuleType]:
    return {info.name: import_module(f"{about.__name__}.{info.name}") for info in pkgutil.iter_modules(about.__path__)}


def _templates(module: ModuleType) -> list[Template]:
    return [value for value in vars(module).values() if isinstance(value, Template)]


def _topic(name: str, module: ModuleType) -> Topic:
    return Topic(name, module.TITLE, tuple(dict.fromkeys(one.quantity.id for one in _templates(module))))


_MODULES = _modules()
TEMPLATES: dict[str, Template] = {
    f"{one.quantity.id}/{one.level}": one for module in _MODULES.values() for one in _templates(module)
}
TOPICS: dict[str, Topic] = {name: _topic(name, module) for name, module in _MODULES.items()}
TOPIC_OF: dict[str, str] = {quantity: topic.id for topic in TOPICS.values() for quantity in topic.quantities}


def drill(id: str, seed: int) -> Drill:
    """The drill `quantity/level` of a seed (0 to LARGEST_SEED), the same whenever it is asked for.

    Raises KeyError for an id that is none of TEMPLATES.
    """
    found = TEMPLATES[id]
    pick, law = Pick(id, seed), Law(found.quantity)
    sketch = found.sketch(pick, law)
    return Drill(
        quantity=found.quantity.id,
        level=found.level,
        seed=seed,
        topic=TOPIC_OF[found.quantity.id],
        title=found.quantity.title,
        text=sketch.text,
        given=tuple(pick.given),
        kind=sketch.kind,
        answer=float(sketch.answer),
        tolerance=0.0 if sketch.exact else TOLERANCE[found.level],
        exact=sketch.exact,
        slips=tuple(_told_apart(sketch, TOLERANCE[found.level])),
        steps=sketch.steps,
        formula=found.quantity.formula,
        source=found.quantity.source,
        args=law.args,
    )


def fingerprint(made: Drill) -> str:
    """Changes with whatever a person reads or is judged by: tells whether a stored seed still asks the same."""
    told = (made.text, made.kind, f"{made.answer:.9g}", made.tolerance)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _told_apart(sketch: Sketch, tolerance: float) -> Iterable[Slip]:
    """The slips that these numbers can tell from the answer and from each other."""
    kept = [sketch.answer]
    for one in sketch.slips:
        if _can_be_typed(one.value, sketch) and all(_apart(one.value, k, sketch, tolerance) for k in kept):
            kept.append(one.value)
            yield one


def _can_be_typed(value: float, sketch: Sketch) -> bool:
    return math.isfinite(value) and value > 0 and not (sketch.exact and value % 1)


def _apart(value: float, other: float, sketch: Sketch, tolerance: float) -> bool:
    if sketch.exact:
        return abs(value - other) >= 1
    least = tolerance + SLIP_WITHIN if other == sketch.answer else 2 * SLIP_WITHIN
    return abs(math.log(value / other)) > math.log1p(least) + 1e-9
