"""Wire floors of collectives."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result

OP = Argument("op", "choice", "which collective", choices=physics.OPS)
RANKS = Argument("ranks", "count", "how many ranks take part, 2 or more")
SIZE = Argument("size", "data", "the whole array, of a rank's own for all-reduce, gathered for all-gather")
RATE = Argument("rate", "rate", "what each rank's link carries one way")
NCCL_TESTS = "nccl-tests, doc/PERFORMANCE.md"
FLOOR = (
    Result("time", "time", "the wire floor", "time_s"),
    Result("bytes_per_rank", "data", "what a rank sends, and receives", "bytes_per_rank"),
    Result("busbw_factor", "factor", "f: busbw over algbw", "busbw_factor"),
    Result("algbw", "rate", "S/t at the floor", "algbw_bits_per_s"),
    Result("busbw", "rate", "f·S/t at the floor: the link's rate", "busbw_bits_per_s"),
)

COLLECTIVE = Quantity(
    id="collective",
    title="The wire floor of a collective",
    formula="t = f·S/B; f = 2(n−1)/n for all-reduce, (n−1)/n for reduce-scatter, all-gather and all-to-all, "
    "1 for broadcast and reduce",
    source=NCCL_TESTS,
    compute=physics.collective,
    arguments=(OP, RANKS, SIZE, RATE),
    results=FLOOR,
    example="op=all-gather ranks=8 size=16GiB rate=400Gbit/s",
    note="S is the whole array: what reduce-scatter starts from, what all-gather ends with.",
)

RING_ALL_REDUCE = Quantity(
    id="ring-all-reduce",
    title="The wire floor of a ring all-reduce",
    formula="t = 2(n−1)/n · S/B",
    source=NCCL_TESTS,
    compute=physics.ring_all_reduce,
    arguments=(RANKS, SIZE, RATE),
    results=FLOOR,
    example="ranks=1024 size=140GB rate=400Gbit/s",
)

HIERARCHICAL_ALL_REDUCE = Quantity(
    id="hierarchical-all-reduce",
    title="An all-reduce that reduces inside the host first and uses every NIC",
    formula="t ≈ 2(k−1)/k · S/(nics·B); with as many NICs as GPUs a NIC carries busbw·(k−1)/(n−1)",
    source=f"{NCCL_TESTS}, once for the hosts and once for all ranks",
    compute=physics.hierarchical_all_reduce,
    arguments=(
        Argument("hosts", "count", "k, 2 or more"),
        Argument("gpus_per_host", "count", "ranks of a host"),
        Argument("nics_per_host", "count", "NICs of a host, all of them used"),
        SIZE,
        Argument("rate", "rate", "what each NIC carries one way"),
    ),
    results=(
        Result("time", "time", "the wire floor, the inside of a host neglected", "time_s"),
        Result("bytes_per_nic", "data", "what a NIC sends", "bytes_per_nic"),
        Result("busbw", "rate", "what nccl-tests would print, more than a NIC carries", "busbw_bits_per_s"),
    ),
    example="hosts=128 gpus_per_host=8 nics_per_host=8 size=140GB rate=400Gbit/s",
)

FRACTION_OF_FLOOR = Quantity(
    id="fraction-of-floor",
    title="Physics or a fault: how much of an observed time the floor explains",
    formula="floor / observed; physics from the threshold on",
    source="a convention: the threshold is stated, not measured",
    compute=physics.fraction_of_floor,
    arguments=(
        Argument("observed", "time", "what was measured"),
        Argument("floor", "time", "what the bytes need"),
        Argument("threshold", "ratio", "from which share on physics explains it"),
    ),
    results=(
        Result("ratio", "ratio", "of the observed time is the floor", "ratio"),
        Result("verdict", "word", "physics or fault", "verdict"),
        Result("threshold", "ratio", "from here on it is physics", "threshold"),
    ),
    example="observed=20s floor=5.6s",
    note="Over 100 % means that the floor or the measurement is wrong.",
)
