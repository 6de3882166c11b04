"""Drills about DDP's buckets, and about what of their time a step cannot hide."""

from __future__ import annotations

from grader.drills.base import Law, Sketch, figures
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.physics.buckets import MEBIBYTE
from grader.quantities.buckets import DDP_BUCKETS, EXPOSED_COMMUNICATION
from grader.quantities.collectives import RING_ALL_REDUCE
from grader.units import format_quantity as say

TITLE = "Buckets and overlap"
FP32_BYTES, BF16_BYTES = 4, 2
TENSORS = 5


@template(DDP_BUCKETS, 1)
def number_of_buckets(pick: Pick, law: Law) -> Sketch:
    params, cap = pick.millions(60, 90, 120, 150, 250, 350, 500, 760), pick.data("MiB", 10, 20, 25, 50)
    number = law(params=[params], cap_mb=cap, gradient_bytes=FP32_BYTES)["buckets"]
    size = params * FP32_BYTES
    half = figures(DDP_BUCKETS, params=[params], cap_mb=cap, gradient_bytes=BF16_BYTES)["buckets"]
    return Sketch(
        f"A model of {params} parameters in many small tensors has FP32 gradients. DDP's bucket cap is {cap}, for the "
        "first bucket too. How many all-reduces does a step launch?",
        "count",
        number,
        (
            f"Gradients: {params} · 4 B = {say(size, 'data')}. A bucket has {cap}, which is {cap / 1e6:.4g} MB.",
            f"{size / 1e6:.4g} / {cap / 1e6:.4g} = {size / cap:.4g}, and the rest needs one too: {number}.",
        ),
        (
            slip("gib-for-gb", -(-size // (cap / MEBIBYTE * 1e6))),
            slip("step-left-out", size // cap, "What is left over is reduced as well, in a bucket of its own."),
            slip("precision", half, "FP32 has four bytes a number."),
            slip("step-left-out", -(-params // cap), "Parameters are no bytes: each has four in FP32."),
        ),
        exact=True,
    )


@template(DDP_BUCKETS, 2)
def first_bucket(pick: Pick, law: Law) -> Sketch:
    tensors = [pick.millions(1, 2, 3, 4, 5, 6, 8) for _ in range(TENSORS)]
    cap = pick.data("MiB", 16, 25)
    found = law(params=tensors, cap_mb=cap, gradient_bytes=FP32_BYTES)
    first = found["bytes"][0]
    forward = figures(DDP_BUCKETS, params=tensors[::-1], cap_mb=cap, gradient_bytes=FP32_BYTES)["bytes"][0]
    half = figures(DDP_BUCKETS, params=tensors, cap_mb=cap, gradient_bytes=BF16_BYTES)["bytes"][0]
    named = ", ".join(str(tensor) for tensor in tensors)
    return Sketch(
        f"A model registers five tensors in this order: {named} parameters. Gradients are FP32, the cap of a bucket "
        f"is {cap}, of the first too, and no gradient is split. How large is the first all-reduce of a step, after the "
        "job's very first step?",
        "data",
        first,
        (
            f"The backward pass reaches the last tensor first: {', '.join(str(tensor) for tensor in tensors[::-1])}.",
            f"In bytes, four a number, they are gathered until they reach {cap}, {cap / 1e6:.4g} MB.",
            f"The first bucket closes at {say(first, 'data')}: it may be larger than the cap.",
        ),
        (
            slip("upside-down", forward, "Backward runs from the last tensor to the first."),
            slip("other-definition", cap, "A bucket closes once it has reached the cap: it is seldom the cap itself."),
            slip("precision", half, "FP32 has four bytes a number."),
            slip("step-left-out", first / FP32_BYTES, "Parameters are no bytes: each has four in FP32."),
            slip("total-for-per-rank", sum(tensors) * FP32_BYTES, "That is everything: one bucket holds a part."),
        ),
    )


@template(DDP_BUCKETS, 3)
def cap_for_a_number(pick: Pick, law: Law) -> Sketch:
    params, wanted = pick.millions(120, 240, 360, 480, 720, 1300), pick.count(4, 6, 8, 12, 16, 20)
    cap = params * FP32_BYTES / wanted
    law(params=[params], cap_mb=cap, gradient_bytes=FP32_BYTES)
    return Sketch(
        f"A model of {params} parameters in many small tensors has FP32 gradients. A step shall launch {wanted} "
        "all-reduces of the same size. What cap do the buckets need?",
        "data",
        cap,
        (
            f"Gradients: {params} · 4 B = {say(params * FP32_BYTES, 'data')}.",
            f"Divided by {wanted}: {say(cap, 'data')}, which is {cap / MEBIBYTE:.3g} MiB.",
        ),
        (
            slip("precision", cap / 2, "FP32 has four bytes a number."),
            slip("step-left-out", cap / FP32_BYTES, "Parameters are no bytes: each has four in FP32."),
        ),
    )


@template(EXPOSED_COMMUNICATION, 1)
def step_with_overlap(pick: Pick, law: Law) -> Sketch:
    compute, communication = pick.time("ms", 400, 470, 520, 600, 800), pick.time("ms", 300, 360, 450, 700, 900)
    overlappable = pick.time("ms", 100, 150, 200, 250)
    found = law(compute=compute, communication=communication, overlappable=overlappable)
    step = found["step"]
    return Sketch(
        f"A step computes for {compute} and communicates for {communication}. During {overlappable} of the compute, "
        "communication can run behind it. How long is the step?",
        "time",
        step,
        (
            f"Hidden: the smaller of {communication} and {overlappable}, {say(found['hidden'], 'time')}.",
            f"Exposed: {communication} − {say(found['hidden'], 'time')} = {say(found['exposed'], 'time')}.",
            f"The step: {compute} + {say(found['exposed'], 'time')} = {say(step, 'time')}.",
        ),
        (
            slip("step-left-out", compute + communication, "That hides nothing."),
            slip("other-definition", max(compute, communication), "That hides all that can be hidden by all compute."),
            slip("other-definition", found["exposed"], "That is the exposed time; the step has its compute as well."),
        ),
    )


@template(EXPOSED_COMMUNICATION, 2)
def exposed_of_a_ring(pick: Pick, law: Law) -> Sketch:
    params, ranks = pick.billions(1, 2, 3, 7), pick.count(16, 64, 256)
    rate, compute = pick.rate("Gb/s", 100, 200, 400), pick.time("ms", 150, 200, 240, 300)
    size = params * BF16_BYTES
    communication = figures(RING_ALL_REDUCE, ranks=ranks, size=size, rate=rate)["time"]
    # Communication that hides whole would leave nothing to answer.
    share = pick.percent(*[per_cent for per_cent in (10, 20, 25, 50) if per_cent / 100 * compute < 0.8 * communication])
    overlappable = compute * share
    exposed = law(compute=compute, communication=communication, overlappable=overlappable)["exposed"]
    return Sketch(
        f"BF16 gradients of {params} parameters are all-reduced in a flat ring of {ranks} ranks with links of {rate}, "
        f"at the floor. A step computes for {compute}, and during {share} of that, communication can run behind it. "
        "For how long does the step wait for communication?",
        "time",
        exposed,
        (
            f"The all-reduce: 2(n−1)/n · {say(size, 'data')} at {rate}: {say(communication, 'time')}.",
            f"It can hide during {share} of {compute}: {say(overlappable, 'time')}.",
            f"Exposed: {say(exposed, 'time')}.",
        ),
        (
            slip("step-left-out", communication, "That hides nothing."),
            slip("one-way-for-both", communication / 2 - overlappable),
            slip("precision", communication * 2 - overlappable, "That is FP32; BF16 has two bytes a number."),
            slip("other-definition", compute + exposed, "That is the whole step."),
            bits_for_bytes(communication / 8 - overlappable, 1),
        ),
    )


@template(EXPOSED_COMMUNICATION, 3)
def hidden_of_a_step(pick: Pick, law: Law) -> Sketch:
    compute, communication = pick.time("ms", 420, 470, 560, 640, 800), pick.time("ms", 300, 380, 450, 600)
    hidden = pick.hide(pick.time("ms", 60, 90, 120, 180, 240, 270))
    step = pick.told("time", law(compute=compute, communication=communication, overlappable=hidden)["step"])
    return Sketch(
        f"A step takes {step}. Compute alone takes {compute}, communication alone {communication}. "
        "How much of the communication runs behind compute?",
        "time",
        hidden,
        (
            f"One after the other they would take {say(compute + communication, 'time')}.",
            f"The step takes {step}: {say(hidden, 'time')} of the communication are hidden.",
        ),
        (
            slip("other-definition", step - compute, "That is what is exposed; asked is what is hidden."),
            slip("other-definition", step - communication, "That is compute that nothing runs behind."),
        ),
    )
