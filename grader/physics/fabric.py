"""What the network below a collective allows: its slowest link, its uplinks, the headers of its packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.collectives import ring_all_reduce
from grader.physics.numbers import Values, more_than_zero, plain, whole

# Ethernet frame on the wire against TCP payload in it, at an MTU of 1500 with timestamps.
PAYLOAD_SHARE = 1448 / 1514


@dataclass(frozen=True)
class DegradedRing:
    """A ring at its slowest link; `slowdown` is its time over that of the ring with every link whole."""

    time_s: Values
    slowdown: Values
    bytes_per_rank: Values


@dataclass(frozen=True)
class Oversubscription:
    """What hosts could send over what their uplinks carry, and the rate that is left to each when all send at once."""

    ratio: Values
    worst_host_bits_per_s: Values


def degraded_ring(
    ranks: ArrayLike, size_bytes: ArrayLike, rate_bits_per_s: ArrayLike, slowest_bits_per_s: ArrayLike
) -> DegradedRing:
    """A ring all-reduce runs at its slowest link: every byte passes every link. A faster one speeds nothing up."""
    rate = more_than_zero("rate_bits_per_s", rate_bits_per_s)
    slowest = plain(np.minimum(rate, more_than_zero("slowest_bits_per_s", slowest_bits_per_s)))
    cost = ring_all_reduce(ranks, size_bytes, slowest)
    return DegradedRing(cost.time_s, rate / slowest, cost.bytes_per_rank)


def oversubscription(
    hosts: ArrayLike, uplinks: ArrayLike, host_rate_bits_per_s: ArrayLike, uplink_rate_bits_per_s: ArrayLike
) -> Oversubscription:
    """(hosts·host rate)/(uplinks·uplink rate) of one leaf; the worst share is the uplinks' total over the hosts.

    Where the uplinks carry more than the hosts can send, a host is left its own rate and no more.
    """
    k, up = whole("hosts", hosts), whole("uplinks", uplinks)
    host_rate = more_than_zero("host_rate_bits_per_s", host_rate_bits_per_s)
    carried = up * more_than_zero("uplink_rate_bits_per_s", uplink_rate_bits_per_s)
    return Oversubscription(k * host_rate / carried, plain(np.minimum(host_rate, carried / k)))


def payload_floor_s(wire_floor_s: ArrayLike) -> Values:
    """The floor once TCP/IP headers are paid for: wire floor × 1514/1448."""
    return more_than_zero("wire_floor_s", wire_floor_s) / PAYLOAD_SHARE
