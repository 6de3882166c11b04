"""Latency beside bandwidth: Hockney's model, a start-up time a round and a time a byte."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.collectives import OPS, collective
from grader.physics.numbers import Values, choice, more_than_zero, plain, whole


@dataclass(frozen=True)
class AlphaBetaCost:
    """Time by latency and bandwidth; `equal_size_bytes` is the size at which both cost the same (the knee)."""

    time_s: Values
    latency_s: Values
    bandwidth_s: Values
    latency_share: Values
    rounds: Values
    equal_size_bytes: Values


def rounds(op: str, ranks: ArrayLike) -> Values:
    """Latency-paying rounds: ring 2(n−1) for all-reduce, n−1 for its halves and all-to-all, ⌈log₂n⌉ for trees."""
    choice("op", op, OPS)
    n = whole("ranks", ranks, least=2)
    if op == "all-reduce":
        return 2 * (n - 1)
    if op in ("reduce-scatter", "all-gather", "all-to-all"):
        return n - 1
    levels = plain(np.ceil(np.log2(np.asarray(n, dtype=float))))
    return levels if isinstance(levels, np.ndarray) else int(levels)


def alpha_beta(
    op: str, ranks: ArrayLike, size_bytes: ArrayLike, rate_bits_per_s: ArrayLike, latency_s: ArrayLike
) -> AlphaBetaCost:
    """rounds·α + f·S/B (Hockney's model on the ring). For all-reduce the knee is at n·α·B (in bits)."""
    alpha_s = more_than_zero("latency_s", latency_s)
    floor = collective(op, ranks, size_bytes, rate_bits_per_s)
    steps = rounds(op, ranks)
    waits = steps * alpha_s
    equal = waits * floor.busbw_bits_per_s / 8 / floor.busbw_factor
    total = waits + floor.time_s
    return AlphaBetaCost(total, waits, floor.time_s, waits / total, steps, equal)


def latency_share(
    op: str, ranks: ArrayLike, size_bytes: ArrayLike, rate_bits_per_s: ArrayLike, latency_s: ArrayLike
) -> Values:
    """The share of the time that latency takes; ratios to the floor carry between scales only where it is small."""
    return alpha_beta(op, ranks, size_bytes, rate_bits_per_s, latency_s).latency_share
