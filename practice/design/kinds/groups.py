"""Groups on a cluster: the form with a grid for each kind of group, and the result with what crossing costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from grader.design import groups, reading, traffic
from grader.design.base import Given, Judged, Line
from grader.design.groups import CROSSES, Groups, Plan, Task
from grader.units import format_quantity
from practice.design.base import Item, Typed

TITLES = {
    1: "Two kinds of groups",
    2: "Three kinds of groups",
    3: "All five kinds of groups",
}


@dataclass(frozen=True)
class Cell:
    """A rank in a grid; with its letter and whether it was put elsewhere, once it was judged."""

    rank: int
    letter: str = ""
    hue: int = 0
    off: bool = False


@dataclass(frozen=True)
class Node:
    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Sheet:
    """One kind of group to draw: how many of which size, and what is typed so far."""

    kind: str
    what: str
    number: int
    size: int
    letters: tuple[str, ...]
    typed: str
    error: str
    crosses: bool


@dataclass(frozen=True)
class Drawn:
    """One kind as it is right, over what was drawn."""

    kind: str
    what: str
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    across: str


@dataclass(frozen=True)
class CostLine:
    kind: str
    what: str
    sent: str
    across: str
    inside: str
    laid: str


class GroupsKind:
    id = "groups"
    place = 1
    title = "Draw the groups"
    day = "day 1"
    lead = (
        "A cluster and a plan of data, tensor, pipeline, context and expert parallelism. Put every rank into its "
        "groups and say which of them cross nodes; then see what crossing costs."
    )
    script = "design.js"
    chart = False
    by_oneself = False

    def items(self) -> Sequence[Item]:
        sizes = {1: "8 ranks", 2: "12 or 16 ranks", 3: "16 or 24 ranks"}
        return tuple(Item(f"groups/{level}", TITLES[level], sizes[level]) for level in groups.LEVELS)

    def pose(self, item: Item, seed: int) -> tuple[Task, str]:
        task = groups.draw(int(item.id.partition("/")[2]), seed)
        return task, task.fingerprint

    def ask(self, task: Task, typed: Typed) -> dict[str, Any]:
        plan, ticked = task.plan, typed.ticked(CROSSES)
        return {
            **_plan(plan),
            "nodes": _nodes(plan),
            "sheets": [_sheet(plan, kind, typed, kind in ticked) for kind in plan.kinds],
            "most": groups_most(plan),
        }

    def judge(self, task: Task, given: Given) -> Judged:
        return groups.judge(task, given)

    def model_answer(self, task: Task) -> dict[str, list[str]]:
        written = {kind: [groups.written(right)] for kind, right in task.groups.items()}
        return written | {CROSSES: [k for k, right in task.groups.items() if groups.crossing(task.plan, right)]}

    def result(self, task: Task, given: Given, judged: Judged, marks: Sequence[str]) -> dict[str, Any]:
        plan = task.plan
        costs = traffic.costs(plan, task.groups)
        best, price = traffic.best_order(plan)
        return {
            **_plan(plan),
            "drawn": [_drawn(task, kind, given, judged) for kind in plan.kinds],
            "costs": [_cost(one) for one in costs],
            "model": traffic.MODEL.name,
            "inside": format_quantity(traffic.WIRES.inside, "rate"),
            "across": format_quantity(traffic.WIRES.across, "rate"),
            "price": _seconds(sum(one.price_s for one in costs)),
            "best": " × ".join(best),
            "best_price": _seconds(price),
            "is_best": sum(one.price_s for one in costs) <= price * (1 + 1e-9),
        }


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "world": plan.world,
        "node_count": plan.nodes,
        "devices": plan.devices,
        "shape": [{"name": name, "size": size} for name, size in plan.shape],
        "fastest": plan.shape[-1][0],
        "has_experts": plan.degrees.expert > 1,
        "data_parallel": plan.data_parallel,
    }


def groups_most(plan: Plan) -> int:
    return max(plan.world // plan.size(kind) for kind in plan.kinds)


def _nodes(plan: Plan) -> tuple[Node, ...]:
    return tuple(
        Node(node, tuple(Cell(rank) for rank in range(node * plan.devices, (node + 1) * plan.devices)))
        for node in range(plan.nodes)
    )


def _sheet(plan: Plan, kind: str, typed: Typed, crosses: bool) -> Sheet:
    number = plan.world // plan.size(kind)
    return Sheet(
        kind,
        groups.SHARES[kind],
        number,
        plan.size(kind),
        tuple(ascii_uppercase[:number]),
        typed.value(kind),
        typed.error(kind),
        crosses,
    )


def _drawn(task: Task, kind: str, given: Given, judged: Judged) -> Drawn:
    plan, right = task.plan, task.groups[kind]
    mine = reading.groups(str((given.get(kind) or [""])[0]), plan.world)
    lines = tuple(line for line in judged.lines if line.field in (kind, f"{CROSSES}-{kind}"))
    across = groups.crossing(plan, right)
    said = f"{len(across)} of {len(right)} cross nodes" if across else "none crosses nodes"
    return Drawn(kind, groups.SHARES[kind], _filled(plan, right, mine), lines, said)


def _filled(plan: Plan, right: Groups, mine: list[list[int]]) -> tuple[Node, ...]:
    """The right groups by letter; `off` where a rank was put with others."""
    at = {rank: (number, group) for number, group in enumerate(right) for rank in group}
    put = {rank: tuple(sorted(group)) for group in mine for rank in group}
    cells = [
        Cell(rank, ascii_uppercase[at[rank][0]], at[rank][0] % 8, put.get(rank) != at[rank][1])
        for rank in range(plan.world)
    ]
    return tuple(
        Node(node, tuple(cells[node * plan.devices : (node + 1) * plan.devices])) for node in range(plan.nodes)
    )


def _cost(cost: traffic.Cost) -> CostLine:
    across = f"{cost.across} of {cost.of}" if cost.across else "none"
    return CostLine(
        cost.kind,
        cost.what,
        format_quantity(cost.bytes_per_rank, "data"),
        across,
        _seconds(cost.inside_s),
        _seconds(cost.laid_s),
    )


def _seconds(seconds: float) -> str:
    return format_quantity(seconds, "time") if seconds else "0 s"


KIND = GroupsKind()
