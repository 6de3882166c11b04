"""What a rank holds: weights, gradients and optimizer state by ZeRO's stage, and activations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.numbers import Values, more_than_zero, plain, whole, zero_or_more

ZERO_STAGES = (0, 1, 2, 3)


@dataclass(frozen=True)
class ActivationMemory:
    """Bytes a rank for all its layers, and how many of them the attention scores take."""

    bytes_per_rank: Values
    attention_bytes: Values


def zero_memory(
    params: ArrayLike,
    ranks: ArrayLike,
    stage: ArrayLike,
    optimizer_bytes: ArrayLike = 12,
    weight_bytes: ArrayLike = 2,
    gradient_bytes: ArrayLike = 2,
) -> Values:
    """Bytes a rank of weights, gradients and optimizer state, sharded by ZeRO's stage (Rajbhandari et al. 2020).

    0 shards nothing, 1 the optimizer state, 2 gradients too, 3 all. The defaults, in bytes a parameter, are mixed
    precision with Adam; an optimizer without state has `optimizer_bytes` 0.
    """
    n, level = whole("ranks", ranks), whole("stage", stage, least=0)
    if np.any(np.asarray(level) > ZERO_STAGES[-1]):
        raise ValueError(f"stage: ZeRO has the stages 0 to 3, not {np.max(level):g}")
    weights = more_than_zero("weight_bytes", weight_bytes) * _kept(level, 3, n)
    gradients = more_than_zero("gradient_bytes", gradient_bytes) * _kept(level, 2, n)
    optimizer = zero_or_more("optimizer_bytes", optimizer_bytes) * _kept(level, 1, n)
    return more_than_zero("params", params) * (weights + gradients + optimizer)


def _kept(stage: Values, sharded_from: int, ranks: Values) -> Values:
    """The share that a rank keeps of what is sharded from this stage on."""
    return plain(np.where(np.asarray(stage) >= sharded_from, 1 / ranks, 1.0))


def activation_memory(
    batch: ArrayLike,
    seq: ArrayLike,
    hidden: ArrayLike,
    layers: ArrayLike,
    heads: ArrayLike,
    tensor_parallel: ArrayLike = 1,
    sequence_parallel: bool = False,
    selective: bool = False,
) -> ActivationMemory:
    """Bytes of 16-bit activations that a rank keeps for backward (Korthikanti et al. 2022).

    A layer takes sbh(34 + 5as/h): 10 of the 34 outside the tensor-parallel region, 24 and the attention scores inside.
    Tensor parallelism divides what is inside, sequence parallelism also the 10; `selective` recomputation keeps no
    attention scores. `batch` is the microbatch.
    """
    b, s, h = whole("batch", batch), whole("seq", seq), whole("hidden", hidden)
    depth, a, t = whole("layers", layers), whole("heads", heads), whole("tensor_parallel", tensor_parallel)
    sbhl = s * b * h * depth
    outside = 10 / t if sequence_parallel else 10
    scores = 0.0 * t if selective else 5 * a * s / h / t
    return ActivationMemory(sbhl * (outside + 24 / t + scores), sbhl * scores)
