"""Shapes through collectives: a field for each tensor of three drawn layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.design import shapes
from grader.design.base import Given, Judged, Line
from grader.design.shapes import Asked, Task, Traced
from grader.design.tensors import Counts
from practice.design.base import Item, Typed


@dataclass(frozen=True)
class Row:
    """One tensor of a layer: given, asked for on some rank, or judged with its reason."""

    text: str
    op: str
    shape: str = ""
    field: str = ""
    typed: str = ""
    error: str = ""
    line: Line | None = None
    why: str = ""


@dataclass(frozen=True)
class Sheet:
    """A layer with its rows; `counts` is the table of tokens sent, where the layer has one."""

    title: str
    text: str
    ranks: int
    rows: tuple[Row, ...]
    counts: Counts


class ShapesKind:
    id = "shapes"
    place = 2
    title = "Trace the shapes"
    day = "day 2"
    lead = (
        "Three parallel layers with all-gather, reduce-scatter, all-reduce and all-to-all in them. Write the shape "
        "that a rank holds after every step."
    )
    script = ""
    chart = False
    by_oneself = False

    def items(self) -> Sequence[Item]:
        return (Item("shapes", "Shapes through four collectives", "three layers, 9 to 14 shapes"),)

    def pose(self, item: Item, seed: int) -> tuple[Task, str]:
        task = shapes.draw(seed)
        return task, task.fingerprint

    def ask(self, task: Task, typed: Typed) -> dict[str, Any]:
        return {"sheets": [_sheet(traced, lambda one: _asked(one, typed)) for traced in task.layers]}

    def judge(self, task: Task, given: Given) -> Judged:
        return shapes.judge(task, given)

    def model_answer(self, task: Task) -> dict[str, list[str]]:
        return {one.field: [shapes.written(one.shape)] for traced in task.layers for one in traced.asked}

    def result(self, task: Task, given: Given, judged: Judged, marks: Sequence[str]) -> dict[str, Any]:
        lines = {line.field: line for line in judged.lines}
        return {"sheets": [_sheet(traced, lambda one: _judged(one, lines[one.field])) for traced in task.layers]}


def _sheet(traced: Traced, row: Any) -> Sheet:
    layer = traced.layer
    rows: list[Row] = []
    for trace in layer.traces:
        if trace.is_given:
            rows.append(Row(trace.text, "given", shapes.written(trace.with_)))
        rows.extend(row(one) for one in traced.asked if one.trace is trace)
    counts: Counts = next((trace.counts for trace in layer.traces if trace.counts), ())
    return Sheet(layer.title, layer.text, layer.ranks, tuple(rows), counts)


def _asked(one: Asked, typed: Typed) -> Row:
    return Row(one.about, one.trace.op, field=one.field, typed=typed.value(one.field), error=typed.error(one.field))


def _judged(one: Asked, line: Line) -> Row:
    return Row(one.about, one.trace.op, field=one.field, line=line, why=one.trace.why)


KIND = ShapesKind()
