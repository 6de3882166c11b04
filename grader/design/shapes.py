"""Shapes traced through four collectives: three drawn layers, a shape typed for each tensor, judged line by line."""

from __future__ import annotations

from dataclasses import dataclass

from grader.design import base, reading
from grader.design.base import Given, Judged, Line, NotAnAnswer
from grader.design.layers import FAMILIES
from grader.design.tensors import Layer, Shape, Trace
from grader.drills.picking import Pick


@dataclass(frozen=True)
class Asked:
    """One shape to fill in: of which tensor, and on which rank where ranks differ."""

    field: str
    trace: Trace
    rank: int | None
    shape: Shape
    before: Shape

    @property
    def about(self) -> str:
        return self.trace.text if self.rank is None else f"{self.trace.text}, on rank {self.rank}"


@dataclass(frozen=True)
class Traced:
    """A layer with the shapes that are asked for."""

    layer: Layer
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class Task:
    layers: tuple[Traced, ...]

    @property
    def fingerprint(self) -> str:
        return base.fingerprint("shapes", self.layers)


def draw(seed: int) -> Task:
    """The exercise of a seed, the same for ever: one layer of each family."""
    pick = Pick("design/shapes", seed)
    return Task(tuple(traced(at, pick.of(*family)(pick)) for at, family in enumerate(FAMILIES)))


def traced(at: int, layer: Layer) -> Traced:
    """What is asked of a layer: every tensor that is not given, on each rank where ranks differ."""
    shapes = layer.shapes()
    asked: list[Asked] = []
    for trace in layer.traces:
        if trace.is_given:
            continue
        mine, before = shapes[trace.name], shapes[trace.of[0]]
        field = f"{at}-{trace.name}"
        if len(set(mine)) == 1:
            asked.append(Asked(field, trace, None, mine[0], before[0]))
        else:
            asked.extend(Asked(f"{field}-{r}", trace, r, mine[r], before[r]) for r in range(layer.ranks))
    return Traced(layer, tuple(asked))


def judge(task: Task, given: Given) -> Judged:
    """A line a shape. Raises NotAnAnswer, by field, for what is no shape; nothing is judged then."""
    read: dict[str, Shape] = {}
    slips: dict[str, str] = {}
    every = [one for traced in task.layers for one in traced.asked]
    for one in every:
        try:
            read[one.field] = reading.shape(base.text_of(given, one.field))
        except ValueError as refused:
            slips[one.field] = str(refused)
    if slips:
        raise NotAnAnswer(slips)
    return Judged(tuple(_line(one, read[one.field]) for one in every))


def _line(asked: Asked, given: Shape) -> Line:
    right = given == asked.shape
    told = () if right else _differences(asked, given)
    return Line(asked.field, asked.about, right, written(given), written(asked.shape), told)


def _differences(asked: Asked, given: Shape) -> tuple[str, ...]:
    shape = asked.shape
    if sorted(given) == sorted(shape):
        return ("The sides are right, and their order is not.",)
    if given == asked.before:
        return (f"That is the shape before it: {written(given)} goes in.",)
    if len(given) != len(shape):
        return (f"That has {_sides(len(given))}, and {len(shape)} are right.",)
    return tuple(
        f"Dimension {at} is {right:,} and not {typed:,}{_times(typed, right)}."
        for at, (typed, right) in enumerate(zip(given, shape, strict=True))
        if typed != right
    )


def _sides(number: int) -> str:
    return f"{number} dimension{'s' if number > 1 else ''}"


def _times(typed: int, right: int) -> str:
    """How many times too large or too small, where it comes out even: the number of ranks is the usual factor."""
    if typed % right == 0:
        return f", {typed // right} times too large"
    return f", {right // typed} times too small" if right % typed == 0 else ""


def written(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"
