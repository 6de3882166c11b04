"""Groups drawn on a cluster: which ranks form the tensor, context, expert, data and pipeline groups of a plan.

Ranks are numbered through a mesh; the groups are those of `physics.parallel_groups`, which torch's DeviceMesh agrees
with. Placement is plain: rank r is device r mod d of node r div d.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from grader import physics
from grader.design import base, reading
from grader.design.base import Given, Judged, Line, NotAnAnswer, listed
from grader.drills.picking import Pick

Group = tuple[int, ...]
Groups = tuple[Group, ...]
KINDS = ("tensor", "context", "expert", "data", "pipeline")
LEVELS = (1, 2, 3)
CROSSES = "crosses"

# Outermost first. The first is the usual one, and so drawn more often; the others lay something else over neighbours.
ORDERS = (
    ("pipeline", "data", "expert", "context", "tensor"),
    ("pipeline", "data", "expert", "context", "tensor"),
    ("data", "expert", "pipeline", "context", "tensor"),
    ("pipeline", "tensor", "context", "data", "expert"),
    ("tensor", "pipeline", "context", "data", "expert"),
    ("pipeline", "context", "data", "expert", "tensor"),
)
SHARES = {
    "tensor": "share each layer: every one holds a part of its weights",
    "context": "share each sequence: every one holds a part of its tokens",
    "expert": "share the experts of a layer: every one holds other experts",
    "data": "hold the same dense weights and read other samples",
    "pipeline": "are the stages of one pipeline: every one holds other layers",
}


class Degrees(NamedTuple):
    """How many ranks along each dimension. `data` is what is left when experts are taken out of it."""

    tensor: int
    context: int
    expert: int
    data: int
    pipeline: int


class Size(NamedTuple):
    """A cluster's nodes and devices a node, with degrees that fill it."""

    nodes: int
    devices: int
    degrees: Degrees


SIZES: dict[int, tuple[Size, ...]] = {
    1: (
        Size(2, 4, Degrees(2, 1, 1, 4, 1)),
        Size(2, 4, Degrees(4, 1, 1, 2, 1)),
        Size(2, 4, Degrees(1, 1, 1, 4, 2)),
        Size(2, 4, Degrees(1, 1, 1, 2, 4)),
        Size(2, 4, Degrees(1, 2, 1, 4, 1)),
        Size(4, 2, Degrees(2, 1, 1, 4, 1)),
    ),
    2: (
        Size(2, 8, Degrees(4, 1, 1, 2, 2)),
        Size(4, 4, Degrees(2, 1, 1, 4, 2)),
        Size(4, 4, Degrees(2, 2, 1, 4, 1)),
        Size(4, 4, Degrees(2, 1, 1, 2, 4)),
        Size(2, 8, Degrees(2, 1, 2, 4, 1)),
        Size(3, 4, Degrees(2, 1, 1, 2, 3)),
    ),
    3: (
        Size(2, 8, Degrees(2, 2, 2, 1, 2)),
        Size(4, 4, Degrees(2, 2, 2, 1, 2)),
        Size(3, 8, Degrees(2, 2, 3, 1, 2)),
        Size(3, 8, Degrees(2, 2, 2, 1, 3)),
    ),
}


@dataclass(frozen=True)
class Plan:
    """A cluster and what is laid on it: all that the page tells. `order` names dimensions outermost first."""

    nodes: int
    devices: int
    degrees: Degrees
    order: tuple[str, ...]

    @property
    def world(self) -> int:
        return self.nodes * self.devices

    @property
    def shape(self) -> tuple[tuple[str, int], ...]:
        """The mesh: each dimension of more than one rank with its size, outermost first."""
        sizes = self.degrees._asdict()
        return tuple((name, sizes[name]) for name in self.order if sizes[name] > 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups that have more than one rank."""
        sizes = self.degrees._asdict() | {"data": self.data_parallel}
        return tuple(kind for kind in KINDS if sizes[kind] > 1)

    @property
    def data_parallel(self) -> int:
        """Replicas of the dense weights: experts are divided among them."""
        return self.degrees.data * self.degrees.expert

    def size(self, kind: str) -> int:
        return self.data_parallel if kind == "data" else int(self.degrees._asdict()[kind])

    def node_of(self, rank: int) -> int:
        return rank // self.devices

    def nodes_of(self, group: Group) -> tuple[int, ...]:
        return tuple(sorted({self.node_of(rank) for rank in group}))


@dataclass(frozen=True)
class Task:
    """A plan with its right groups by kind. `experts_alone` are those who hold the same experts: a known mix-up."""

    level: int
    plan: Plan
    groups: dict[str, Groups]
    experts_alone: Groups

    @property
    def fingerprint(self) -> str:
        return base.fingerprint("groups", self.plan, sorted(self.groups.items()))


def draw(level: int, seed: int) -> Task:
    """The exercise of a level and a seed, the same for ever. Raises KeyError for a level that there is not."""
    pick = Pick(f"design/groups/{level}", seed)
    size, order = pick.of(*SIZES[level]), pick.of(*ORDERS)
    return task(level, Plan(size.nodes, size.devices, size.degrees, order))


def task(level: int, plan: Plan) -> Task:
    """A plan with its groups. Raises ValueError where the degrees do not fill the cluster."""
    if prod(plan.degrees) != plan.world:
        raise ValueError(f"degrees {plan.degrees} do not fill {plan.world} ranks")
    found = groups_of(plan)
    return Task(level, plan, {kind: found[kind] for kind in plan.kinds}, found["expert_data"])


def groups_of(plan: Plan) -> dict[str, Groups]:
    """Every kind's groups, and `expert_data`: ranks that hold the same experts."""
    sizes = plan.degrees
    found = physics.parallel_groups(
        plan.world, sizes.tensor, sizes.pipeline, sizes.context, sizes.expert, "-".join(plan.order)
    )
    return {kind: _frozen(getattr(found, kind)) for kind in (*KINDS, "expert_data")}


def crossing(plan: Plan, groups: Groups) -> Groups:
    """Those groups whose ranks lie on more than one node."""
    return tuple(group for group in groups if len(plan.nodes_of(group)) > 1)


def judge(task: Task, given: Given) -> Judged:
    """Two lines a kind: its groups, and whether they cross nodes.

    `given` holds a kind's groups as text (a group a line) and, under `crosses`, the kinds that were ticked. Raises
    NotAnAnswer where a text is no division of the ranks into groups.
    """
    read = _read(task, given)
    ticked = set(given.get(CROSSES) or ())
    lines = [_line(task, kind, read[kind]) for kind in task.plan.kinds]
    return Judged((*lines, *(_crossing_line(task, kind, kind in ticked) for kind in task.plan.kinds)))


def _read(task: Task, given: Given) -> dict[str, Groups]:
    read, slips = {}, {}
    for kind in task.plan.kinds:
        try:
            read[kind] = _frozen(reading.groups(base.text_of(given, kind), task.plan.world))
        except ValueError as refused:
            slips[kind] = str(refused)
    if slips:
        raise NotAnAnswer(slips)
    return read


def _line(task: Task, kind: str, given: Groups) -> Line:
    right = task.groups[kind]
    told = () if given == right else (_mistaken(task, kind, given) or _wrong_groups(task, kind, given))
    return Line(kind, f"{kind.capitalize()} groups", given == right, in_a_line(given), in_a_line(right), told)


def _mistaken(task: Task, kind: str, given: Groups) -> tuple[str, ...]:
    """The one sentence for a mix-up that has a name."""
    first, nodes = given[0], task.plan
    if kind == "data" and given == task.experts_alone:
        whole = next(group for group in task.groups["data"] if set(first) <= set(group))
        alone = len(first) == 1
        hold = f"Rank {said(first)} holds its experts alone" if alone else f"Ranks {said(first)} hold the same experts"
        return (
            f"{hold}; the dense weights are the same on {said(whole)}, because experts are divided among the "
            "data-parallel ranks.",
        )
    for other, groups in task.groups.items():
        if other != kind and groups == given and groups != task.groups[kind]:
            return (f"These are the {other} groups: ranks {said(first)} {SHARES[other]}.",)
    if all(len(nodes.nodes_of(group)) == 1 for group in given) and len(given) == nodes.nodes:
        mates = _mates(task, kind, first[0])
        return (f"These are the nodes, and not the mesh: rank {first[0]} is in one {kind} group with {said(mates)}.",)
    return ()


def _wrong_groups(task: Task, kind: str, given: Groups) -> tuple[str, ...]:
    right, size = set(task.groups[kind]), task.plan.size(kind)
    return tuple(_wrong_group(task, kind, group, size) for group in given if group not in right)


def _wrong_group(task: Task, kind: str, group: Group, size: int) -> str:
    mates = _mates(task, kind, group[0])
    belongs = f"rank {group[0]} belongs with {said(mates)}"
    if len(group) != size:
        has = f"{len(group)} rank{'' if len(group) == 1 else 's'}"
        return f"Group {said(group)} has {has}, and a {kind} group has {size}; {belongs}."
    strangers = [rank for rank in group if rank not in (*mates, group[0])]
    other = _mates(task, kind, strangers[0])
    return f"Group {said(group)}: {belongs}, and rank {strangers[0]} with {said(other)}."


def _mates(task: Task, kind: str, rank: int) -> Group:
    group = next(group for group in task.groups[kind] if rank in group)
    return tuple(other for other in group if other != rank)


def _crossing_line(task: Task, kind: str, ticked: bool) -> Line:
    across = crossing(task.plan, task.groups[kind])
    words = {True: "cross nodes", False: "stay on a node"}
    told = () if ticked == bool(across) else (_why_crossing(task, kind, across),)
    about = f"Do {kind} groups cross nodes?"
    return Line(f"{CROSSES}-{kind}", about, ticked == bool(across), words[ticked], words[bool(across)], told)


def _why_crossing(task: Task, kind: str, across: Groups) -> str:
    if not across:
        group = task.groups[kind][0]
        return (
            f"Ranks {said(group)} all lie on node {task.plan.node_of(group[0])}, and the other {kind} groups likewise."
        )
    first = across[0][0]
    far = next(rank for rank in across[0] if task.plan.node_of(rank) != task.plan.node_of(first))
    return (
        f"Ranks {first} and {far} are in one {kind} group, on node {task.plan.node_of(first)} "
        f"and on node {task.plan.node_of(far)}."
    )


def said(group: Group) -> str:
    return listed(group)


def written(groups: Groups) -> str:
    """As the form takes them: a group a line."""
    return "\n".join(" ".join(map(str, group)) for group in groups)


def in_a_line(groups: Groups) -> str:
    """For a page: a group is never broken over two lines."""
    return " | ".join("\u00a0".join(map(str, group)) for group in groups)


def _frozen(groups: list[list[int]]) -> Groups:
    return tuple(sorted(tuple(sorted(group)) for group in groups))
