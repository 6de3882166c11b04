"""Drills about what the network below a collective allows."""

from __future__ import annotations

from grader.drills.base import Law, Sketch, figures
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.quantities.collectives import RING_ALL_REDUCE
from grader.quantities.fabric import DEGRADED_RING, OVERSUBSCRIPTION
from grader.units import format_quantity as say

TITLE = "Links, rings and uplinks"
BF16_BYTES = 2


@template(DEGRADED_RING, 1)
def ring_at_its_slowest(pick: Pick, law: Law) -> Sketch:
    ranks, size = pick.count(8, 16, 64, 256, 1024), pick.data("GB", 1, 2, 4, 14, 26, 60)
    rate, slowest = pick.rate("Gb/s", 200, 400, 800), pick.rate("Gb/s", 25, 50, 100)
    found = law(ranks=ranks, size=size, rate=rate, slowest=slowest)
    time = found["time"]
    average = (rate * (ranks - 1) + slowest) / ranks
    return Sketch(
        f"{ranks} ranks all-reduce {size} in one ring. All links run at {rate}, but one came up at {slowest}. "
        "What is the floor now?",
        "time",
        time,
        (
            "Every byte passes every link, so the slowest sets the pace of all.",
            f"Each link carries 2(n−1)/n · {size} = {say(found['bytes_per_rank'], 'data')}.",
            f"At {slowest}: {say(time, 'time')}, {found['slowdown']:.3g} times the floor of a whole ring.",
        ),
        (
            slip("averaged", time * slowest / average),
            slip("step-left-out", time * slowest / rate, "That is the floor of the whole ring; one link is slower."),
            slip("ring-factor", size * 8 / slowest),
            bits_for_bytes(time, 1 / 8),
        ),
    )


@template(DEGRADED_RING, 2)
def ring_with_lost_lanes(pick: Pick, law: Law) -> Sketch:
    params, ranks = pick.billions(1, 3, 7, 13, 70), pick.count(16, 64, 256, 1024)
    rate, left = pick.rate("Gb/s", 100, 200, 400), pick.percent(25, 50)
    size, slowest = params * BF16_BYTES, rate * left
    time = law(ranks=ranks, size=size, rate=rate, slowest=slowest)["time"]
    healthy = figures(RING_ALL_REDUCE, ranks=ranks, size=size, rate=rate)["time"]
    return Sketch(
        f"BF16 gradients of {params} parameters go round one ring of {ranks} ranks with links of {rate}. "
        f"One port has negotiated down to {left} of its lanes. How much longer than its whole floor does the "
        "all-reduce take now?",
        "time",
        time - healthy,
        (
            f"{params} parameters of two bytes: {say(size, 'data')}; the whole floor is {say(healthy, 'time')}.",
            f"The one port runs at {say(slowest, 'rate')}, and the ring with it: {say(time, 'time')}.",
            f"The difference is {say(time - healthy, 'time')}.",
        ),
        (
            slip("other-definition", time, "That is the whole time; asked is how much longer it is than the floor."),
            slip("averaged", (time - healthy) / ranks),
            slip("step-left-out", (time - healthy) / 2, "Parameters are no bytes: each has two in BF16."),
            bits_for_bytes(time - healthy, 1 / 8),
        ),
    )


@template(DEGRADED_RING, 3)
def which_rate_explains_it(pick: Pick, law: Law) -> Sketch:
    ranks, size = pick.count(16, 64, 256, 1024), pick.data("GB", 2, 14, 26, 60, 140)
    rate = pick.rate("Gb/s", 200, 400, 800)
    slowest = pick.hide(pick.rate("Gb/s", 10, 25, 40, 50, 100))
    found = law(ranks=ranks, size=size, rate=rate, slowest=slowest)
    time = pick.told("time", found["time"])
    return Sketch(
        f"An all-reduce of {size} over {ranks} ranks in one ring of {rate} links takes {time}. If one slow link is all "
        "that is wrong, what does it run at?",
        "rate",
        slowest,
        (
            f"Each link carries 2(n−1)/n · {size} = {say(found['bytes_per_rank'], 'data')}.",
            f"That over {time} is {say(slowest, 'rate')}: look for a link that says so.",
        ),
        (
            slip("ring-factor", size * 8 / time),
            bits_for_bytes(slowest, 1 / 8),
            slip("other-definition", rate - slowest, "That is what the link has lost; asked is what it runs at."),
        ),
    )


@template(OVERSUBSCRIPTION, 1)
def oversubscription_direct(pick: Pick, law: Law) -> Sketch:
    hosts, uplinks = pick.count(24, 32, 48, 64), pick.count(4, 6, 8)
    host_rate, uplink_rate = pick.rate("Gb/s", 200, 400), pick.rate("Gb/s", 400, 800)
    found = law(hosts=hosts, uplinks=uplinks, host_rate=host_rate, uplink_rate=uplink_rate)
    ratio = found["ratio"]
    return Sketch(
        f"A leaf has {hosts} hosts at {host_rate} each and {uplinks} uplinks of {uplink_rate}. "
        "By which factor is it oversubscribed (how many times what the uplinks carry could the hosts send)?",
        "factor",
        ratio,
        (
            f"Hosts: {hosts} · {host_rate} = {say(hosts * host_rate, 'rate')}.",
            f"Uplinks: {uplinks} · {uplink_rate} = {say(uplinks * uplink_rate, 'rate')}.",
            f"Hosts over uplinks: {ratio:.3g} to 1.",
        ),
        (
            slip("upside-down", 1 / ratio, "What the hosts could send goes on top: over 1 is oversubscribed."),
            slip("step-left-out", hosts / uplinks, "Ports are not all alike: multiply each side by its rate."),
        ),
    )


@template(OVERSUBSCRIPTION, 2)
def what_is_left_to_a_host(pick: Pick, law: Law) -> Sketch:
    hosts, uplinks = pick.count(16, 32, 40, 64), pick.count(4, 8, 10)
    host_rate, uplink_rate = pick.rate("Gb/s", 200, 400), pick.rate("Gb/s", 200, 400)
    found = law(hosts=hosts, uplinks=uplinks, host_rate=host_rate, uplink_rate=uplink_rate)
    left = found["worst_host_rate"]
    return Sketch(
        f"{hosts} hosts with NICs of {host_rate} stand below one leaf with {uplinks} uplinks of {uplink_rate}, spread "
        "evenly. All hosts send out of the leaf at once. What rate is left to each?",
        "rate",
        left,
        (
            f"The uplinks carry {uplinks} · {uplink_rate} = {say(uplinks * uplink_rate, 'rate')} together.",
            f"Shared by {hosts} hosts: {say(left, 'rate')}, which is {left / 8e9:.3g} GB/s.",
        ),
        (
            slip("step-left-out", host_rate, "The NIC can do that; the uplinks cannot, for all hosts at once."),
            slip("total-for-per-rank", uplinks * uplink_rate, "That is what all hosts have together."),
            bits_for_bytes(left),
        ),
    )


@template(OVERSUBSCRIPTION, 3)
def uplinks_needed(pick: Pick, law: Law) -> Sketch:
    uplinks = pick.hide(pick.count(4, 6, 8, 12, 16))
    most, host_rate = pick.factor(1.5, 2, 3), pick.rate("Gb/s", 200, 400)
    uplink_rate = pick.rate("Gb/s", 800)
    # So many hosts that no uplink is left over.
    hosts = pick.told("count", most * uplinks * uplink_rate / host_rate)
    ratio = law(hosts=hosts, uplinks=uplinks, host_rate=host_rate, uplink_rate=uplink_rate)["ratio"]
    return Sketch(
        f"A leaf serves {hosts} hosts at {host_rate}. It may be oversubscribed {most} to 1 at most, and its uplinks "
        f"run at {uplink_rate}. At least how many uplinks does it need?",
        "count",
        uplinks,
        (
            f"The hosts could send {say(hosts * host_rate, 'rate')}.",
            f"At {most} to 1 the uplinks have to carry {say(hosts * host_rate / most, 'rate')}.",
            f"In uplinks of {uplink_rate} that is {uplinks:.0f}; with them the ratio is {ratio:.3g}.",
        ),
        (
            slip("step-left-out", hosts * host_rate / uplink_rate, "That many give 1 to 1; more was allowed."),
            slip("upside-down", hosts * host_rate / uplink_rate * most, "Oversubscription saves uplinks: divide."),
        ),
        exact=True,
    )
