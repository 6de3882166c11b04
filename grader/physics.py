"""What collectives should cost. Formulas: nccl-tests PERFORMANCE.md and the sources named at each function.

Units: bytes, bits/s, seconds. Every function is pure and raises ValueError with what is wrong and what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Op = Literal["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce"]

# Ethernet frame on the wire against TCP payload in it, at an MTU of 1500 with timestamps.
PAYLOAD_SHARE = 1448 / 1514


@dataclass(frozen=True)
class CollectiveCost:
    """The wire floor of one collective. `algbw` and `busbw` in bits/s if it ran exactly at the floor."""

    op: str
    time_s: float
    bytes_per_rank: float
    busbw_factor: float
    algbw_bits_per_s: float
    busbw_bits_per_s: float


@dataclass(frozen=True)
class HierarchicalCost:
    """All-reduce with every NIC of a host used and reduction inside the host first."""

    time_s: float
    bytes_per_nic: float
    hosts: int
    nics_per_host: int


@dataclass(frozen=True)
class AlphaBetaCost:
    """Time by latency and bandwidth; `equal_size_bytes` is the size at which both cost the same (the knee)."""

    time_s: float
    latency_s: float
    bandwidth_s: float
    latency_share: float
    rounds: int
    equal_size_bytes: float


@dataclass(frozen=True)
class PipelineBubble:
    """What filling and draining costs: idle time over ideal time, and the share of the step that is idle."""

    over_ideal: float
    step_share: float


@dataclass(frozen=True)
class FractionOfFloor:
    """Floor over observed; `verdict` says physics or fault at the threshold."""

    ratio: float
    verdict: Literal["physics", "fault"]
    threshold: float


def busbw_factor(op: str, ranks: int) -> float:
    """f in t = f·S/B (nccl-tests PERFORMANCE.md). S is the whole array for reduce-scatter and all-gather."""
    _check_ranks(ranks)
    if op == "all-reduce":
        return 2 * (ranks - 1) / ranks
    if op in ("reduce-scatter", "all-gather", "all-to-all"):
        return (ranks - 1) / ranks
    if op in ("broadcast", "reduce"):
        return 1.0
    raise ValueError(f"unknown collective {op!r}; one of {', '.join(get_args(Op))}")


def collective(op: str, ranks: int, size_bytes: float, rate_bits_per_s: float) -> CollectiveCost:
    """The floor t = f·S/B of `op` over `ranks`, each with a link of `rate_bits_per_s`.

    140 GB, 1,024 ranks, 400 Gb/s: about 5.6 s, about 280 GB a rank.
    """
    factor = busbw_factor(op, ranks)
    _check_positive(size_bytes=size_bytes, rate_bits_per_s=rate_bits_per_s)
    moved = factor * size_bytes
    time_s = moved * 8 / rate_bits_per_s
    return CollectiveCost(op, time_s, moved, factor, rate_bits_per_s / factor, rate_bits_per_s)


def ring_all_reduce(ranks: int, size_bytes: float, rate_bits_per_s: float) -> CollectiveCost:
    """`collective` for the ring all-reduce."""
    return collective("all-reduce", ranks, size_bytes, rate_bits_per_s)


def hierarchical_all_reduce(
    hosts: int, gpus_per_host: int, nics_per_host: int, size_bytes: float, rate_bits_per_s: float
) -> HierarchicalCost:
    """Reduce inside the host, ring across hosts over every NIC: time ≈ 2(k−1)/k·S/(nics·B); the inside is neglected.

    140 GB, 128 hosts of 8 GPUs and 8 NICs at 400 Gb/s: 0.69 s, against 5.6 s for one GPU and NIC a host.
    """
    _check_ranks(hosts)
    _check_positive(
        gpus_per_host=gpus_per_host, nics_per_host=nics_per_host, size_bytes=size_bytes, rate=rate_bits_per_s
    )
    per_nic = 2 * (hosts - 1) / hosts * size_bytes / nics_per_host
    return HierarchicalCost(per_nic * 8 / rate_bits_per_s, per_nic, hosts, nics_per_host)


def rounds(op: str, ranks: int) -> int:
    """Latency-paying rounds: ring 2(n−1) for all-reduce, n−1 for its halves and all-to-all, ⌈log₂n⌉ for trees."""
    busbw_factor(op, ranks)
    if op == "all-reduce":
        return 2 * (ranks - 1)
    if op in ("reduce-scatter", "all-gather", "all-to-all"):
        return ranks - 1
    return math.ceil(math.log2(ranks))


def alpha_beta(op: str, ranks: int, size_bytes: float, rate_bits_per_s: float, latency_s: float) -> AlphaBetaCost:
    """rounds·α + f·S/B (Hockney's model on the ring). For all-reduce the knee is at n·α·B (in bits)."""
    _check_positive(latency_s=latency_s)
    floor = collective(op, ranks, size_bytes, rate_bits_per_s)
    waits = rounds(op, ranks) * latency_s
    equal = waits * rate_bits_per_s / 8 / floor.busbw_factor
    total = waits + floor.time_s
    return AlphaBetaCost(total, waits, floor.time_s, waits / total, rounds(op, ranks), equal)


def latency_share(op: str, ranks: int, size_bytes: float, rate_bits_per_s: float, latency_s: float) -> float:
    """The share of the time that latency takes; ratios to the floor carry between scales only where it is small."""
    return alpha_beta(op, ranks, size_bytes, rate_bits_per_s, latency_s).latency_share


def degraded_ring(ranks: int, size_bytes: float, rate_bits_per_s: float, slowest_bits_per_s: float) -> CollectiveCost:
    """A ring all-reduce runs at its slowest link: every byte passes every link."""
    _check_positive(slowest_bits_per_s=slowest_bits_per_s)
    return collective("all-reduce", ranks, size_bytes, min(rate_bits_per_s, slowest_bits_per_s))


def fraction_of_floor(observed_s: float, floor_s: float, threshold: float = 0.85) -> FractionOfFloor:
    """floor/observed: 6 s of 5.6 s is 93 % (physics), 20 s is 28 % (a fault)."""
    _check_positive(observed_s=observed_s, floor_s=floor_s, threshold=threshold)
    ratio = floor_s / observed_s
    return FractionOfFloor(ratio, "physics" if ratio >= threshold else "fault", threshold)


def pipeline_bubble(stages: int, microbatches: int, interleave: int = 1) -> PipelineBubble:
    """(p−1)/(v·m) over the ideal, (p−1)/(v·m+p−1) of the step (Narayanan et al. 2021)."""
    _check_positive(stages=stages, microbatches=microbatches, interleave=interleave)
    waits, work = stages - 1, interleave * microbatches
    return PipelineBubble(waits / work, waits / (work + waits))


ZERO_STAGES = (0, 1, 2, 3)


def zero_memory(
    params: float,
    ranks: int,
    stage: int,
    optimizer_bytes: float = 12,
    weight_bytes: float = 2,
    gradient_bytes: float = 2,
) -> float:
    """Bytes a rank of weights, gradients and optimizer state, sharded by ZeRO's stage (Rajbhandari et al. 2020).

    0 shards nothing, 1 the optimizer state, 2 gradients too, 3 all. The defaults are mixed precision with Adam.
    """
    _check_positive(params=params, ranks=ranks, weight_bytes=weight_bytes, gradient_bytes=gradient_bytes)
    if stage not in ZERO_STAGES:
        raise ValueError(f"ZeRO has the stages 0 to 3, not {stage}")
    shares = [1 / ranks if stage >= first else 1.0 for first in (3, 2, 1)]
    parts = (weight_bytes, gradient_bytes, optimizer_bytes)
    return params * sum(size * share for size, share in zip(parts, shares, strict=True))


def payload_floor_s(wire_floor_s: float) -> float:
    """The floor once TCP/IP headers are paid for: wire floor × 1514/1448."""
    _check_positive(wire_floor_s=wire_floor_s)
    return wire_floor_s / PAYLOAD_SHARE


def ddp_buckets(sizes_bytes: Sequence[float], cap_bytes: float, first_cap_bytes: float | None = None) -> list[float]:
    """Bytes of each all-reduce of a DDP step, in the order of launch.

    `sizes_bytes` are the gradients in the order in which the model registers its parameters: the backward pass reaches
    them from the last to the first. None is ever split, and a bucket closes once it reaches its cap, so it may be far
    larger. `first_cap_bytes` is the cap of the first bucket; torch 2.13 has one of 1 MiB, and 25 MiB for the others,
    only where no cap is given. The first step of a job runs as one bucket. Source: torch.nn.parallel.distributed.
    """
    _check_positive(cap_bytes=cap_bytes, first_cap_bytes=first_cap_bytes or cap_bytes)
    if not sizes_bytes or min(sizes_bytes) <= 0:
        raise ValueError("sizes_bytes must hold a size for each parameter, each more than zero")
    buckets: list[float] = []
    held, cap = 0.0, first_cap_bytes or cap_bytes
    for size in reversed(sizes_bytes):
        held += size
        if held >= cap:
            buckets.append(held)
            held, cap = 0.0, cap_bytes
    return [*buckets, held] if held else buckets


def _check_ranks(ranks: int) -> None:
    if ranks < 2:
        raise ValueError(f"a collective needs at least 2 ranks, not {ranks}")


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be more than zero and finite, not {value}")
