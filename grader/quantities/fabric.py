"""What the network below a collective allows."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result
from grader.quantities.collectives import RANKS, RATE, SIZE

DEGRADED_RING = Quantity(
    id="degraded-ring",
    title="A ring all-reduce with one slower link",
    formula="t = 2(n−1)/n · S / min(B, slowest)",
    source="the ring itself: every byte passes every link, so that the slowest sets the pace of all",
    compute=physics.degraded_ring,
    arguments=(RANKS, SIZE, RATE, Argument("slowest", "rate", "what the slowest link carries one way")),
    results=(
        Result("time", "time", "the wire floor at the slowest link", "time_s"),
        Result("slowdown", "factor", "the floor with every link whole", "slowdown"),
        Result("bytes_per_rank", "data", "what a rank sends, and receives", "bytes_per_rank"),
    ),
    example="ranks=1024 size=140GB rate=400Gbit/s slowest=100Gbit/s",
)

OVERSUBSCRIPTION = Quantity(
    id="oversubscription",
    title="What the hosts of a leaf could send over what its uplinks carry",
    formula="ratio = hosts·host_rate / (uplinks·uplink_rate); "
    "worst share = uplinks·uplink_rate / hosts, at most host_rate",
    source="conservation of bytes at the leaf",
    compute=physics.oversubscription,
    arguments=(
        Argument("hosts", "count", "below the leaf"),
        Argument("uplinks", "count", "from the leaf to the spines"),
        Argument("host_rate", "rate", "of each host's link"),
        Argument("uplink_rate", "rate", "of each uplink"),
    ),
    results=(
        Result("ratio", "factor", "what the uplinks carry", "ratio"),
        Result("worst_host_rate", "rate", "is left to a host when all send at once", "worst_host_bits_per_s"),
    ),
    example="hosts=32 uplinks=8 host_rate=400Gbit/s uplink_rate=800Gbit/s",
    note="Hashing flows onto uplinks can leave less: two flows on one uplink share it while another is idle.",
)
