"""Drills about latency beside bandwidth."""

from __future__ import annotations

from grader.drills.base import Law, Sketch, figures
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.quantities.latency import ALPHA_BETA
from grader.units import format_quantity as say

TITLE = "Latency against bandwidth"


@template(ALPHA_BETA, 1)
def time_with_latency(pick: Pick, law: Law) -> Sketch:
    ranks, size = pick.count(8, 16, 32, 64, 128), pick.data("MB", 1, 2, 4, 8, 16, 25)
    rate, latency = pick.rate("Gb/s", 100, 200, 400), pick.time("µs", 5, 10, 20, 50)
    found = law(op="all-reduce", ranks=ranks, size=size, rate=rate, latency=latency)
    time = found["time"]
    return Sketch(
        f"A ring all-reduce of {size} over {ranks} ranks: links of {rate}, and {latency} of latency a round. "
        "How long does it take, both counted?",
        "time",
        time,
        (
            f"The ring has 2(n−1) = {found['rounds']:.0f} rounds of {latency}: {say(found['latency_time'], 'time')}.",
            f"Its bytes need 2(n−1)/n · {size} / {rate} = {say(found['bandwidth_time'], 'time')}.",
            f"Together {say(time, 'time')}.",
        ),
        (
            slip("latency-left-out", found["bandwidth_time"]),
            slip("other-definition", found["latency_time"], "That is latency alone; the bytes need their time too."),
            slip("one-way-for-both", time - found["latency_time"] / 2, "The ring goes round twice: 2(n−1) rounds."),
            slip("one-way-for-both", time / 2),
            bits_for_bytes(found["latency_time"] + found["bandwidth_time"] / 8, 1),
        ),
    )


@template(ALPHA_BETA, 2)
def share_of_latency(pick: Pick, law: Law) -> Sketch:
    ranks, total, number = pick.count(16, 32, 64, 128), pick.data("GB", 1, 2, 4), pick.count(100, 200, 500, 1000, 2000)
    rate, latency = pick.rate("GB/s", 25, 50), pick.time("µs", 5, 10, 20)
    size = total / number
    found = law(op="all-reduce", ranks=ranks, size=size, rate=rate, latency=latency)
    share = found["latency_share"]
    whole = figures(ALPHA_BETA, op="all-reduce", ranks=ranks, size=total, rate=rate, latency=latency)["latency_share"]
    return Sketch(
        f"Gradients of {total} are reduced in {number} equal all-reduces over a ring of {ranks} ranks, one after the "
        f"other. Links carry {rate}, a round costs {latency} of latency. Which share of each all-reduce is latency?",
        "ratio",
        share,
        (
            f"Each all-reduce has {total} / {number} = {say(size, 'data')}.",
            f"Latency: 2(n−1) rounds of {latency} are {say(found['latency_time'], 'time')}.",
            f"Bytes: 2(n−1)/n · {say(size, 'data')} over {rate} are {say(found['bandwidth_time'], 'time')}.",
            f"Of {say(found['time'], 'time')} together, latency is {say(share, 'ratio')}.",
        ),
        (
            slip("step-left-out", whole, "That is the share of one all-reduce of everything; each is far smaller."),
            slip(
                "other-definition",
                found["latency_time"] / found["bandwidth_time"],
                "That is latency over the bytes' time; the share is of both together.",
            ),
            slip("upside-down", 1 - share, "That is the share of the bytes."),
        ),
    )


@template(ALPHA_BETA, 3)
def size_of_the_knee(pick: Pick, law: Law) -> Sketch:
    ranks, rate = pick.count(8, 16, 64, 128, 256, 512, 1024), pick.rate("Gb/s", 100, 200, 400)
    latency = pick.time("µs", 2, 5, 10, 20, 50)
    knee = ranks * latency * rate / 8
    found = law(op="all-reduce", ranks=ranks, size=knee, rate=rate, latency=latency)
    return Sketch(
        f"A ring of {ranks} ranks has links of {rate} and {latency} of latency a round. Below which size does latency "
        "take more of an all-reduce than its bytes do?",
        "data",
        found["equal_size"],
        (
            f"Latency is 2(n−1) · {latency} = {say(found['latency_time'], 'time')}, whatever the size.",
            "The bytes take 2(n−1)/n · S/B. Set equal, 2(n−1) goes out: S = n·α·B.",
            f"{ranks} · {latency} · {say(rate, 'rate')}, divided by 8 for bytes: {say(knee, 'data')}.",
        ),
        (
            bits_for_bytes(knee),
            slip(
                "per-rank-for-total", knee / ranks, "That is where one hop breaks even; the ring has n times as many."
            ),
            slip("ring-factor", knee * 2, "2(n−1) rounds and 2(n−1)/n bytes: both have the 2, and it goes out."),
        ),
    )
