"""What collectives and layers do to the shape of a tensor, rank by rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]
# One shape a rank.
Shapes = tuple[Shape, ...]
Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Trace:
    """One tensor of a layer: what it is made of and how. `text` says it to a person, `why` after it was judged.

    `with_` holds the operation's numbers: a shape for `given`, dimensions for collectives, outputs for `linear`.
    `counts[i][j]` are the rows that rank i sends to rank j.
    """

    name: str
    text: str
    op: str
    of: tuple[str, ...] = ()
    with_: tuple[int, ...] = ()
    why: str = ""
    counts: Counts = ()

    @property
    def is_given(self) -> bool:
        return self.op == "given"


@dataclass(frozen=True)
class Layer:
    """A parallel layer on `ranks` ranks: tensors in the order in which they come to be."""

    id: str
    title: str
    text: str
    ranks: int
    traces: tuple[Trace, ...]

    def shapes(self) -> dict[str, Shapes]:
        """Every tensor's shape on every rank."""
        found: dict[str, Shapes] = {}
        for trace in self.traces:
            found[trace.name] = OPS[trace.op](trace, found, self.ranks)
        return found


Before = Mapping[str, Shapes]


def given(trace: Trace, before: Before, ranks: int) -> Shapes:
    return (trace.with_,) * ranks


def all_gather(trace: Trace, before: Before, ranks: int) -> Shapes:
    """The ranks' shards joined along a dimension, on every rank."""
    (dimension,) = trace.with_
    shards = before[trace.of[0]]
    return (_with(shards[0], dimension, sum(shard[dimension] for shard in shards)),) * ranks


def reduce_scatter(trace: Trace, before: Before, ranks: int) -> Shapes:
    """Summed over the ranks, each keeping its share along a dimension."""
    (dimension,) = trace.with_
    return tuple(_divided(shape, dimension, ranks) for shape in before[trace.of[0]])


def all_reduce(trace: Trace, before: Before, ranks: int) -> Shapes:
    return before[trace.of[0]]


def all_to_all(trace: Trace, before: Before, ranks: int) -> Shapes:
    """Each rank cuts along one dimension, sends a piece to each, and joins what it gets along another."""
    cut, joined = trace.with_
    pieces = [_divided(shape, cut, ranks) for shape in before[trace.of[0]]]
    return tuple(_with(pieces[0], joined, sum(piece[joined] for piece in pieces)) for _ in range(ranks))


def dispatch(trace: Trace, before: Before, ranks: int) -> Shapes:
    """Rows sent by a table of counts: a rank has its column's sum of them."""
    width = before[trace.of[0]][0][1:]
    return tuple((sum(row[rank] for row in trace.counts), *width) for rank in range(ranks))


def combine(trace: Trace, before: Before, ranks: int) -> Shapes:
    """Rows sent back: a rank has its row's sum again."""
    width = before[trace.of[0]][0][1:]
    return tuple((sum(trace.counts[rank]), *width) for rank in range(ranks))


def linear(trace: Trace, before: Before, ranks: int) -> Shapes:
    """The last dimension replaced by the outputs that a rank's part of the weight has."""
    (outputs,) = trace.with_
    return tuple((*shape[:-1], outputs) for shape in before[trace.of[0]])


def by_weight(trace: Trace, before: Before, ranks: int) -> Shapes:
    """x·wᵀ with the weight [out, in] of another line."""
    inputs, weights = (before[name] for name in trace.of)
    return tuple((*x[:-1], w[0]) for x, w in zip(inputs, weights, strict=True))


def weight_gradient(trace: Trace, before: Before, ranks: int) -> Shapes:
    """dyᵀ·x, [out, in], of outputs dy and inputs x."""
    outputs, inputs = (before[name] for name in trace.of)
    return tuple((y[-1], x[-1]) for y, x in zip(outputs, inputs, strict=True))


def heads(trace: Trace, before: Before, ranks: int) -> Shapes:
    """The last dimension cut into heads of `with_` numbers each."""
    (size,) = trace.with_
    return tuple((*shape[:-1], shape[-1] // size, size) for shape in before[trace.of[0]])


def merged(trace: Trace, before: Before, ranks: int) -> Shapes:
    """The last two dimensions joined."""
    return tuple((*shape[:-2], prod(shape[-2:])) for shape in before[trace.of[0]])


OPS: dict[str, Callable[[Trace, Before, int], Shapes]] = {
    "given": given,
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "all-reduce": all_reduce,
    "all-to-all": all_to_all,
    "dispatch": dispatch,
    "combine": combine,
    "linear": linear,
    "by-weight": by_weight,
    "weight-gradient": weight_gradient,
    "heads": heads,
    "merged": merged,
}
COLLECTIVES = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all", "dispatch", "combine")


def _with(shape: Shape, dimension: int, size: int) -> Shape:
    return (*shape[:dimension], size, *shape[dimension + 1 :])


def _divided(shape: Shape, dimension: int, by: int) -> Shape:
    if shape[dimension] % by:
        raise ValueError(f"dimension {dimension} of {list(shape)} does not divide by {by}")
    return _with(shape, dimension, shape[dimension] // by)
