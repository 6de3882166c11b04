"""What collectives should cost on the wire. Formulas: nccl-tests PERFORMANCE.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.numbers import Values, choice, more_than_zero, plain, whole

Op = Literal["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce"]
OPS: tuple[str, ...] = get_args(Op)
# What a share of the floor has to reach before physics may be said to explain a time.
AT_FLOOR_FROM = 0.85


@dataclass(frozen=True)
class CollectiveCost:
    """The wire floor of one collective. `algbw` and `busbw` in bits/s if it ran exactly at the floor."""

    op: str
    time_s: Values
    bytes_per_rank: Values
    busbw_factor: Values
    algbw_bits_per_s: Values
    busbw_bits_per_s: Values


@dataclass(frozen=True)
class HierarchicalCost:
    """All-reduce with every NIC of a host used and reduction inside the host first.

    `busbw_bits_per_s` is what nccl-tests would print: f·S/t over all ranks, although each NIC carries only
    busbw·(k−1)/(n−1) where hosts have as many NICs as GPUs.
    """

    time_s: Values
    bytes_per_nic: Values
    busbw_bits_per_s: Values
    hosts: Values
    nics_per_host: Values


@dataclass(frozen=True)
class FractionOfFloor:
    """Floor over observed; `verdict` says physics or fault at the threshold (an array of words for arrays)."""

    ratio: Values
    verdict: Values
    threshold: Values


def busbw_factor(op: str, ranks: ArrayLike) -> Values:
    """f in t = f·S/B (nccl-tests PERFORMANCE.md). S is the whole array for reduce-scatter and all-gather."""
    choice("op", op, OPS)
    n = whole("ranks", ranks, least=2)
    if op == "all-reduce":
        return 2 * (n - 1) / n
    if op in ("broadcast", "reduce"):
        return plain(np.ones_like(n, dtype=float))
    return (n - 1) / n


def collective(op: str, ranks: ArrayLike, size_bytes: ArrayLike, rate_bits_per_s: ArrayLike) -> CollectiveCost:
    """The floor t = f·S/B of `op` over `ranks` (2 or more), each with a link of `rate_bits_per_s`.

    140 GB, 1,024 ranks, 400 Gb/s: about 5.6 s, about 280 GB a rank.
    """
    factor = busbw_factor(op, ranks)
    size, rate = more_than_zero("size_bytes", size_bytes), more_than_zero("rate_bits_per_s", rate_bits_per_s)
    moved = factor * size
    return CollectiveCost(op, moved * 8 / rate, moved, factor, rate / factor, rate)


def ring_all_reduce(ranks: ArrayLike, size_bytes: ArrayLike, rate_bits_per_s: ArrayLike) -> CollectiveCost:
    """`collective` for the ring all-reduce."""
    return collective("all-reduce", ranks, size_bytes, rate_bits_per_s)


def hierarchical_all_reduce(
    hosts: ArrayLike,
    gpus_per_host: ArrayLike,
    nics_per_host: ArrayLike,
    size_bytes: ArrayLike,
    rate_bits_per_s: ArrayLike,
) -> HierarchicalCost:
    """Reduce inside the host, ring across `hosts` (2 or more) over every NIC: time ≈ 2(k−1)/k·S/(nics·B).

    What happens inside a host is neglected. 140 GB, 128 hosts of 8 GPUs and 8 NICs at 400 Gb/s: 0.69 s, against 5.6 s
    for one GPU and NIC a host. The arithmetic of `busbw_factor`, once for hosts (the wire) and once for ranks (busbw).
    """
    k, gpus = whole("hosts", hosts, least=2), whole("gpus_per_host", gpus_per_host)
    nics = whole("nics_per_host", nics_per_host)
    size, rate = more_than_zero("size_bytes", size_bytes), more_than_zero("rate_bits_per_s", rate_bits_per_s)
    per_nic = busbw_factor("all-reduce", k) * size / nics
    time_s = per_nic * 8 / rate
    busbw = busbw_factor("all-reduce", k * gpus) * size * 8 / time_s
    return HierarchicalCost(time_s, per_nic, busbw, k, nics)


def fraction_of_floor(
    observed_s: ArrayLike, floor_s: ArrayLike, threshold: ArrayLike = AT_FLOOR_FROM
) -> FractionOfFloor:
    """floor/observed: 6 s of 5.6 s is 93 % (physics), 20 s is 28 % (a fault)."""
    observed, floor = more_than_zero("observed_s", observed_s), more_than_zero("floor_s", floor_s)
    least = more_than_zero("threshold", threshold)
    ratio = floor / observed
    return FractionOfFloor(ratio, plain(np.where(ratio >= least, "physics", "fault")), least)
