"""Latency beside bandwidth."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result
from grader.quantities.collectives import OP, RANKS, RATE, SIZE

ALPHA_BETA = Quantity(
    id="alpha-beta",
    title="A collective's time by latency and bandwidth, and the size at which both cost the same",
    formula="t = rounds·α + f·S/B; rounds: 2(n−1) for all-reduce, n−1 for reduce-scatter, all-gather and all-to-all, "
    "⌈log₂n⌉ for broadcast and reduce; both equal at rounds·α·B/f, which is n·α·B on a ring",
    source="Hockney 1994, the model of a message; rounds of the ring and of a binomial tree",
    compute=physics.alpha_beta,
    arguments=(OP, RANKS, SIZE, RATE, Argument("latency", "time", "α, of one round")),
    results=(
        Result("time", "time", "both together", "time_s"),
        Result("latency_time", "time", "rounds·α", "latency_s"),
        Result("bandwidth_time", "time", "f·S/B, the wire floor", "bandwidth_s"),
        Result("latency_share", "ratio", "of the time is latency", "latency_share"),
        Result("rounds", "count", "that pay latency", "rounds"),
        Result("equal_size", "data", "the knee: below it latency decides", "equal_size_bytes"),
    ),
    example="op=all-reduce ranks=1024 size=25MiB rate=400Gbit/s latency=20us",
)
