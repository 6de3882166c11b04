"""Jobs laid out in several dimensions: who is in which group, what each group costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grader.physics.numbers import Values, more_than_zero, whole

DIMENSIONS = ("pipeline", "data", "expert", "context", "tensor")
# Outermost first, as DeviceMesh names its dimensions: tensor groups are neighbours, pipeline stages far apart.
USUAL_ORDER = "-".join(DIMENSIONS)
SHORT_NAMES = {"pp": "pipeline", "dp": "data", "ep": "expert", "cp": "context", "tp": "tensor"}
# The largest jobs told of have a tenth of it; every group of a larger one would take minutes to write out.
MOST_LISTED_RANKS = 1 << 17


@dataclass(frozen=True)
class PipelineBubble:
    """What filling and draining costs: idle time over ideal time, and the share of the step that is idle."""

    over_ideal: Values
    step_share: Values


@dataclass(frozen=True)
class MoeTraffic:
    """Bytes that a rank sends for one layer: one of the all-to-alls, the two of a forward pass, the four of a step."""

    dispatch_bytes: Values
    forward_bytes: Values
    backward_bytes: Values
    step_bytes: Values


@dataclass(frozen=True)
class ParallelGroups:
    """Rank lists of each kind of group, and how many replicas of the dense weights there are.

    Ranks of a `data` group hold the same dense weights, of an `expert` group different experts, of an `expert_data`
    group the same experts. Lists are in the order of their first ranks.
    """

    data_parallel: int
    expert_data_parallel: int
    data: list[list[int]]
    expert_data: list[list[int]]
    expert: list[list[int]]
    tensor: list[list[int]]
    context: list[list[int]]
    pipeline: list[list[int]]


def pipeline_bubble(stages: ArrayLike, microbatches: ArrayLike, interleave: ArrayLike = 1) -> PipelineBubble:
    """(p−1)/(v·m) over the ideal, (p−1)/(v·m+p−1) of the step (Narayanan et al. 2021)."""
    waits = whole("stages", stages) - 1
    work = whole("interleave", interleave) * whole("microbatches", microbatches)
    return PipelineBubble(waits / work, waits / (work + waits))


def global_batch(microbatch: ArrayLike, data_parallel: ArrayLike, accumulation: ArrayLike) -> Values:
    """Samples a step: microbatch · data-parallel ranks · accumulation. Tensor, pipeline and context ranks share one."""
    return (
        whole("microbatch", microbatch)
        * whole("data_parallel", data_parallel)
        * whole("accumulation", accumulation)
    )  # fmt: skip


def tensor_parallel_traffic(
    batch: ArrayLike, seq: ArrayLike, hidden: ArrayLike, layers: ArrayLike, tensor: ArrayLike, element_bytes: ArrayLike
) -> Values:
    """Bytes that a rank sends a step: 4 all-reduces a layer (2 forward, 2 backward) of b·s·h elements (Megatron-LM).

    Each moves 2(t−1)/t of its array; one tensor-parallel rank alone moves nothing. `batch` is the microbatch, and every
    further microbatch of the step costs the same again.
    """
    b, s, h = whole("batch", batch), whole("seq", seq), whole("hidden", hidden)
    depth, t = whole("layers", layers), whole("tensor", tensor)
    return 4 * depth * (2 * (t - 1) / t) * b * s * h * more_than_zero("element_bytes", element_bytes)


def moe_all_to_all(
    tokens: ArrayLike, hidden: ArrayLike, top_k: ArrayLike, experts_parallel: ArrayLike, element_bytes: ArrayLike
) -> MoeTraffic:
    """Bytes that a rank sends for one layer of experts, routing even: tokens·top_k·hidden·(n−1)/n an all-to-all.

    `tokens` are those of one rank. Forward has two (dispatch, combine), backward the same two again.
    """
    sent = whole("tokens", tokens) * whole("top_k", top_k) * whole("hidden", hidden)
    n = whole("experts_parallel", experts_parallel)
    once = sent * more_than_zero("element_bytes", element_bytes) * ((n - 1) / n)
    return MoeTraffic(once, 2 * once, 2 * once, 4 * once)


def parallel_groups(
    world: int, tensor: int = 1, pipeline: int = 1, context: int = 1, expert: int = 1, order: str = USUAL_ORDER
) -> ParallelGroups:
    """Who is in which group when `world` ranks are numbered through a mesh, the last dimension of `order` fastest.

    `order` names dimensions outermost first, as the names of a DeviceMesh; those of one rank may be left out, and
    pp, dp, ep, cp, tp are read too. Data-parallel ranks are what the others leave; experts are divided among them, so
    they cost no data parallelism. Not vectorised: one layout a call. Numbering: torch's `init_device_mesh`.
    """
    sizes = _mesh_sizes(world, {"pipeline": pipeline, "expert": expert, "context": context, "tensor": tensor})
    names = _dimensions(order, sizes)
    ranks = np.arange(prod(sizes.values())).reshape([sizes[name] for name in names])
    along = {name: [name] for name in DIMENSIONS} | {"data": ["data", "expert"], "expert_data": ["data"]}
    groups = {kind: _lists(ranks, [names.index(name) for name in within]) for kind, within in along.items()}
    return ParallelGroups(sizes["data"] * sizes["expert"], sizes["data"], **groups)


def _mesh_sizes(world: int, others: Mapping[str, int]) -> dict[str, int]:
    """Ranks along each dimension. `data` is what is left when experts are taken out of it."""
    ranks, sizes = whole("world", world), {name: whole(name, size) for name, size in others.items()}
    if ranks > MOST_LISTED_RANKS:
        raise ValueError(f"world must be at most {MOST_LISTED_RANKS:,} ranks to be listed, not {ranks:g}")
    divided = prod(sizes.values())
    if ranks % divided:
        product = " · ".join(f"{name} {size:g}" for name, size in sizes.items() if size > 1)
        raise ValueError(f"world must be a multiple of {product} = {divided:g}, and {ranks:,} is not")
    return {**sizes, "data": ranks // divided}


def _dimensions(order: str, sizes: Mapping[str, int]) -> list[str]:
    """Every dimension, in the order asked for, those that are not named (of one rank each) outside."""
    names = [SHORT_NAMES.get(word, word) for word in order.replace(",", "-").split("-")]
    wrong = [name for name in names if name not in DIMENSIONS] or [n for n in names if names.count(n) > 1]
    if wrong:
        raise ValueError(
            f"order must name each of {USUAL_ORDER} at most once, outermost first; {wrong[0]!r} does not fit"
        )
    lacking = [name for name in DIMENSIONS if name not in names]
    unnamed = [name for name in lacking if sizes[name] > 1]
    if unnamed:
        size = sizes[unnamed[0]]
        raise ValueError(f"order must name {unnamed[0]} too, which has {size:,} ranks, for example {USUAL_ORDER}")
    return [*lacking, *names]


def _lists(ranks: NDArray[np.int_], axes: list[int]) -> list[list[int]]:
    """The groups of ranks that differ along `axes` alone."""
    kept = [axis for axis in range(ranks.ndim) if axis not in axes]
    rows = ranks.transpose([*kept, *axes]).reshape(-1, prod(ranks.shape[axis] for axis in axes))
    return sorted(sorted(int(rank) for rank in row) for row in rows)
