"""What a plan's groups send in a step, and what it costs that they cross nodes, by the formulas of `grader.physics`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from grader import physics
from grader.design.groups import Group, Groups, Plan, crossing, groups_of

BYTES = 2  # BF16, of activations and of gradients


@dataclass(frozen=True)
class Model:
    """What is trained. One sequence a microbatch; every layer has experts where the plan has expert groups."""

    name: str
    layers: int
    hidden: int
    seq: int
    microbatches: int
    top_k: int = 2

    @property
    def dense_params(self) -> float:
        """12·l·h²: attention and MLP, biases and embeddings left out."""
        return 12.0 * self.layers * self.hidden**2


@dataclass(frozen=True)
class Wires:
    """Bits a second of a device inside its node, and of its own network interface between nodes."""

    inside: float
    across: float


MODEL = Model("48 layers of 4,096, sequences of 8,192 tokens, 8 microbatches a step", 48, 4096, 8192, 8)
WIRES = Wires(inside=3.6e12, across=400e9)


@dataclass(frozen=True)
class Cost:
    """One kind's traffic: bytes that a rank sends a step, the share of them that leaves the node where groups cross,
    and seconds a step if every group lay on one node, and as the groups lie."""

    kind: str
    what: str
    bytes_per_rank: float
    across: int
    of: int
    share_across: float
    inside_s: float
    laid_s: float

    @property
    def price_s(self) -> float:
        """What crossing costs a step, if nothing hides it."""
        return self.laid_s - self.inside_s


def costs(plan: Plan, groups: dict[str, Groups], model: Model = MODEL, wires: Wires = WIRES) -> tuple[Cost, ...]:
    """The cost of each kind of group that the plan has."""
    return tuple(_cost(plan, kind, groups[kind], model, wires) for kind in plan.kinds)


def price_s(plan: Plan, groups: dict[str, Groups]) -> float:
    """Seconds a step that crossing costs in all, if nothing hides it."""
    return sum(cost.price_s for cost in costs(plan, groups))


@lru_cache(maxsize=256)
def best_order(plan: Plan) -> tuple[tuple[str, ...], float]:
    """The order of dimensions that pays least for crossing, outermost first, and what it pays.

    Of equals the first in the plan's own order of names.
    """
    names = tuple(name for name, _ in plan.shape)
    unused = tuple(name for name in plan.order if name not in names)
    laid = (Plan(plan.nodes, plan.devices, plan.degrees, (*unused, *order)) for order in permutations(names))
    priced = [(other, price_s(other, groups_of(other))) for other in laid]
    best, price = min(priced, key=lambda one: round(one[1], 12))
    return tuple(name for name, _ in best.shape), price


def _cost(plan: Plan, kind: str, groups: Groups, model: Model, wires: Wires) -> Cost:
    what, law = LAWS[kind]
    sent = law(plan, model)
    across = crossing(plan, groups)
    share = max((_share_across(plan, kind, group) for group in groups), default=0.0)
    inside_s = sent * 8 / wires.inside
    laid_s = (1 - share) * inside_s + share * sent * 8 / wires.across
    return Cost(kind, what, sent, len(across), len(groups), share, inside_s, laid_s)


def _share_across(plan: Plan, kind: str, group: Group) -> float:
    """Of what the worst rank of a group sends, the share that leaves its node.

    A ring runs at its slowest link, and so does a chain of stages; an all-to-all pays for the partners elsewhere.
    """
    if len(plan.nodes_of(group)) == 1:
        return 0.0
    if kind != "expert":
        return 1.0
    at_home = min(sum(plan.node_of(other) == plan.node_of(rank) for other in group) for rank in group)
    return (len(group) - at_home) / (len(group) - 1)


def _tensor(plan: Plan, model: Model) -> float:
    sizes = plan.degrees
    once = physics.tensor_parallel_traffic(
        1, model.seq // sizes.context, model.hidden, model.layers // sizes.pipeline, sizes.tensor, BYTES
    )
    return float(once) * model.microbatches


def _context(plan: Plan, model: Model) -> float:
    """Keys and values gathered forward, their gradients scattered backward; a tensor rank has its share of heads."""
    sizes = plan.degrees
    both = 2 * model.seq * model.hidden * BYTES / sizes.tensor
    ways = sum(physics.collective(op, sizes.context, both, 1).bytes_per_rank for op in ("all-gather", "reduce-scatter"))
    return float(ways) * (model.layers // sizes.pipeline) * model.microbatches


def _expert(plan: Plan, model: Model) -> float:
    sizes = plan.degrees
    moved = physics.moe_all_to_all(model.seq // sizes.context, model.hidden, model.top_k, sizes.expert, BYTES)
    return float(moved.step_bytes) * (model.layers // sizes.pipeline) * model.microbatches


def _data(plan: Plan, model: Model) -> float:
    sizes = plan.degrees
    gradients = model.dense_params * BYTES / (sizes.tensor * sizes.pipeline)
    return float(physics.ring_all_reduce(plan.data_parallel, gradients, 1).bytes_per_rank)


def _pipeline(plan: Plan, model: Model) -> float:
    """A stage hands its activations on, and the gradients of those it was handed back."""
    return 2.0 * model.seq / plan.degrees.context * model.hidden * BYTES * model.microbatches


LAWS: dict[str, tuple[str, Callable[[Plan, Model], float]]] = {
    "tensor": ("4 all-reduces a layer of b·s·h elements, each 2(t−1)/t of it", _tensor),
    "context": ("keys and values gathered, their gradients scattered: (c−1)/c of 2·s·h a layer, each way", _context),
    "expert": ("4 all-to-alls a layer, each tokens·top_k·h·(n−1)/n", _expert),
    "data": ("one all-reduce of the gradients: 2(d−1)/d of 12·l·h²/(t·p) elements", _data),
    "pipeline": ("activations forward, their gradients backward: s·h elements a microbatch each", _pipeline),
}
