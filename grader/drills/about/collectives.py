"""Drills about wire floors."""

from __future__ import annotations

from grader.drills.base import Law, Sketch, figures
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.quantities.collectives import COLLECTIVE, FRACTION_OF_FLOOR, HIERARCHICAL_ALL_REDUCE, RING_ALL_REDUCE
from grader.units import format_quantity as say

TITLE = "Collectives and their floors"
SHARED = ("reduce-scatter", "all-gather", "all-to-all")
BF16_BYTES, FP32_BYTES = 2, 4


@template(RING_ALL_REDUCE, 1)
def ring_direct(pick: Pick, law: Law) -> Sketch:
    ranks = pick.count(4, 8, 16, 32, 64, 128, 256, 512, 1024)
    size, rate = pick.data("GB", 1, 2, 4, 6, 10, 14, 20, 40, 80, 140), pick.rate("Gb/s", 50, 100, 200, 400, 800)
    floor = law(ranks=ranks, size=size, rate=rate)
    time, sent = floor["time"], floor["bytes_per_rank"]
    return Sketch(
        f"{ranks} ranks all-reduce {size} in one flat ring. Each rank has one link of {rate}. "
        "What is the wire floor of the collective?",
        "time",
        time,
        (
            f"Each rank sends 2(n−1)/n = {floor['busbw_factor']:.4g} times the array: {say(sent, 'data')}.",
            f"That is {sent * 8 / 1e9:.4g} Gb, and the link carries {rate}.",
            f"So {say(time, 'time')}.",
        ),
        (
            slip("ring-factor", size * 8 / rate),
            slip("one-way-for-both", time / 2, "That is the reduce-scatter half; an all-gather as long follows it."),
            bits_for_bytes(time, 1 / 8),
            bits_for_bytes(time),
            slip("per-rank-for-total", time * ranks, "All ranks send at once: the time is that of one rank's bytes."),
        ),
    )


@template(RING_ALL_REDUCE, 2)
def ring_of_parameters(pick: Pick, law: Law) -> Sketch:
    params = pick.billions(1, 3, 7, 8, 13, 30, 34, 70, 180, 405)
    ranks, rate = pick.count(16, 64, 128, 256, 1024, 2048), pick.rate("GB/s", 12.5, 25, 50, 100)
    size = params * BF16_BYTES
    time = law(ranks=ranks, size=size, rate=rate)["time"]
    sent = figures(RING_ALL_REDUCE, ranks=ranks, size=size, rate=rate)["bytes_per_rank"]
    return Sketch(
        f"A model of {params} parameters keeps its gradients in BF16. {ranks} data-parallel ranks reduce all of them "
        f"in one flat ring, and each rank's link carries {rate} one way. What is the floor of that all-reduce?",
        "time",
        time,
        (
            f"BF16 has {BF16_BYTES} bytes a number: the gradient is {say(size, 'data')}.",
            f"Each rank sends 2(n−1)/n of it: {say(sent, 'data')}.",
            f"The rate is in bytes already: {say(sent, 'data')} over {rate} is {say(time, 'time')}.",
        ),
        (
            slip("precision", time * 2, "That is the floor of FP32 gradients; BF16 has two bytes a number."),
            slip("step-left-out", time / BF16_BYTES, "Parameters are no bytes: each has two in BF16."),
            slip("ring-factor", size * 8 / rate),
            bits_for_bytes(time),
            bits_for_bytes(time, 1 / 8),
        ),
    )


@template(RING_ALL_REDUCE, 3)
def ring_needed_rate(pick: Pick, law: Law) -> Sketch:
    ranks, size = pick.count(8, 16, 64, 256, 1024), pick.data("GB", 2, 4, 10, 14, 26, 60, 140)
    rate = pick.hide(pick.rate("Gb/s", 50, 100, 200, 400, 800))
    floor = law(ranks=ranks, size=size, rate=rate)
    time = pick.told("time", floor["time"])
    return Sketch(
        f"An all-reduce of {size} over {ranks} ranks in a flat ring may take {time} and no more. "
        "How fast does each rank's link have to be, one way?",
        "rate",
        rate,
        (
            f"Each rank sends 2(n−1)/n · {size} = {say(floor['bytes_per_rank'], 'data')}.",
            f"In bits that is {floor['bytes_per_rank'] * 8 / 1e9:.4g} Gb.",
            f"Over {time}: {say(rate, 'rate')}, all of it payload.",
        ),
        (
            slip("ring-factor", size * 8 / time),
            slip("one-way-for-both", rate / 2, "Reduce-scatter and all-gather both have to fit into the time."),
            bits_for_bytes(rate, 1 / 8),
        ),
    )


@template(COLLECTIVE, 1)
def collective_direct(pick: Pick, law: Law) -> Sketch:
    op, ranks = pick.word(*SHARED), pick.count(4, 8, 16, 32, 64, 128)
    size, rate = pick.data("GB", 1, 2, 4, 8, 12, 16, 24, 48), pick.rate("Gb/s", 100, 200, 400, 800)
    floor = law(op=op, ranks=ranks, size=size, rate=rate)
    time, sent = floor["time"], floor["bytes_per_rank"]
    reduced = figures(COLLECTIVE, op="all-reduce", ranks=ranks, size=size, rate=rate)["time"]
    article = "an" if op.startswith("a") else "a"
    return Sketch(
        f"The whole array of {article} {op} over {ranks} ranks is {size}; each rank's link carries {rate} one way. "
        "What is its wire floor?",
        "time",
        time,
        (
            f"A rank sends (n−1)/n = {floor['busbw_factor']:.4g} of the whole array: {say(sent, 'data')}.",
            f"{sent * 8 / 1e9:.4g} Gb at {rate}: {say(time, 'time')}.",
        ),
        (
            slip("both-for-one-way", reduced, f"2(n−1)/n is an all-reduce's; {article} {op} is one half of it."),
            slip("ring-factor", size * 8 / rate, "A rank keeps its own share: (n−1)/n of the array leaves it."),
            bits_for_bytes(time, 1 / 8),
            bits_for_bytes(time),
        ),
    )


@template(COLLECTIVE, 2)
def gathered_of_shards(pick: Pick, law: Law) -> Sketch:
    ranks, shard = pick.count(8, 16, 32, 64), pick.data("GiB", 1, 2, 3, 4, 6, 8)
    rate = pick.rate("GB/s", 12.5, 25, 50, 100)
    floor = law(op="all-gather", ranks=ranks, size=ranks * shard, rate=rate)
    time = floor["time"]
    return Sketch(
        f"Weights are sharded over {ranks} ranks, {shard} each, and gathered before a layer runs. Each rank's link "
        f"carries {rate} one way. What is the floor of the all-gather?",
        "time",
        time,
        (
            f"The whole array is n shards: {say(ranks * shard, 'data')} ({shard} is {shard / 1e9:.4g} GB).",
            f"Each rank passes on all but one shard, (n−1)/n of it: {say(floor['bytes_per_rank'], 'data')}.",
            f"Over {rate}: {say(time, 'time')}.",
        ),
        (
            slip("gib-for-gb", time * 1e9 / 2**30),
            slip("total-for-per-rank", time / ranks, "One shard is what a rank starts with; it ends with all of them."),
            slip("both-for-one-way", time * 2, "2(n−1)/n is an all-reduce's; an all-gather is one half of it."),
            bits_for_bytes(time),
            bits_for_bytes(time, 1 / 8),
        ),
    )


@template(COLLECTIVE, 3)
def busbw_of_a_time(pick: Pick, law: Law) -> Sketch:
    op, ranks = pick.word("all-reduce", *SHARED), pick.count(2, 4, 8, 16)
    size, busbw = pick.data("GB", 1, 2, 4, 8, 16), pick.hide(pick.rate("GB/s", 20, 40, 48, 180, 240, 360))
    floor = law(op=op, ranks=ranks, size=size, rate=busbw)
    time = pick.told("time", floor["time"])
    factor = floor["busbw_factor"]
    return Sketch(
        f"A benchmark times one {op} of {size} (the whole array) over {ranks} ranks: {time}. "
        "Which bus bandwidth does it print?",
        "rate",
        busbw,
        (
            f"Algorithm bandwidth is size over time: {size} / {time} = {say(size * 8 / time, 'rate')}.",
            f"The factor of {op} at n = {ranks} is {factor:.4g}.",
            f"Bus bandwidth is the product: {say(busbw, 'rate')}, which is {busbw / 8e9:.4g} GB/s.",
        ),
        (
            slip("other-definition", busbw / factor, "That is algbw. Bus bandwidth has the collective's factor in it."),
            slip("upside-down", busbw / factor**2, "The factor multiplies algbw; it does not divide it."),
            bits_for_bytes(busbw, 1 / 8),
        ),
    )


@template(HIERARCHICAL_ALL_REDUCE, 1)
def hierarchical_direct(pick: Pick, law: Law) -> Sketch:
    hosts, nics = pick.count(4, 8, 16, 32, 64, 128), pick.count(2, 4, 8)
    size, rate = pick.data("GB", 2, 4, 14, 26, 60, 140), pick.rate("Gb/s", 100, 200, 400)
    found = law(hosts=hosts, gpus_per_host=8, nics_per_host=nics, size=size, rate=rate)
    time = found["time"]
    return Sketch(
        f"{hosts} hosts of 8 GPUs and {nics} NICs all-reduce {size}: first inside each host, which costs next to "
        f"nothing here, then between hosts over every NIC. A NIC carries {rate} one way. What is the floor?",
        "time",
        time,
        (
            f"Between hosts the array goes round a ring of {hosts}: 2(k−1)/k · {size}, divided among {nics} NICs.",
            f"A NIC sends {say(found['bytes_per_nic'], 'data')}.",
            f"At {rate}: {say(time, 'time')}.",
        ),
        (
            slip("step-left-out", time * nics, f"Every host has {nics} NICs, and each carries its share of the array."),
            slip("one-way-for-both", time / 2),
            bits_for_bytes(time, 1 / 8),
            bits_for_bytes(time),
        ),
    )


@template(HIERARCHICAL_ALL_REDUCE, 2)
def bytes_of_a_nic(pick: Pick, law: Law) -> Sketch:
    params, world = pick.billions(7, 13, 30, 70, 180), pick.count(32, 64, 128, 512, 1024)
    nics = pick.count(2, 4, 8)
    hosts, size = world / 8, params * BF16_BYTES
    sent = law(hosts=hosts, gpus_per_host=8, nics_per_host=nics, size=size, rate=1e9)["bytes_per_nic"]
    return Sketch(
        f"{world} GPUs stand in hosts of 8, each host with {nics} NICs. BF16 gradients of {params} parameters are "
        "reduced inside each host first, then between the hosts over all NICs. How many bytes does one NIC send?",
        "data",
        sent,
        (
            f"BF16 has two bytes a number: {say(size, 'data')}. There are {hosts:.0f} hosts.",
            f"A host sends 2(k−1)/k of that, with k = {hosts:.0f}: {say(sent * nics, 'data')}.",
            f"{nics} NICs share it: {say(sent, 'data')} each.",
        ),
        (
            slip("per-rank-for-total", sent * nics, f"That is what a host sends; its {nics} NICs share it."),
            slip("precision", sent * 2),
            slip("step-left-out", sent / BF16_BYTES, "Parameters are no bytes: each has two in BF16."),
            slip("one-way-for-both", sent / 2),
        ),
    )


@template(HIERARCHICAL_ALL_REDUCE, 3)
def nics_needed(pick: Pick, law: Law) -> Sketch:
    hosts, nics = pick.count(16, 32, 64, 128), pick.hide(pick.count(1, 2, 4, 8))
    size, rate = pick.data("GB", 14, 26, 60, 140), pick.rate("Gb/s", 100, 200, 400)
    found = law(hosts=hosts, gpus_per_host=8, nics_per_host=nics, size=size, rate=rate)
    # A hair over what is needed, so that rounding asks for no NIC more.
    time = pick.told("time", found["time"] * 1.02)
    return Sketch(
        f"{hosts} hosts of 8 GPUs all-reduce {size}, reducing inside each host first. NICs of {rate} can be put into "
        f"each host, up to 8. At least how many does a host need for a floor of at most {time}?",
        "count",
        nics,
        (
            f"One NIC a host would have to send 2(k−1)/k · {size} = {say(found['bytes_per_nic'] * nics, 'data')}.",
            f"At {rate} that takes {say(found['time'] * nics, 'time')}.",
            f"Divided by {time}, and rounded up: {nics:.0f}.",
        ),
        (slip("one-way-for-both", nics / 2), slip("both-for-one-way", nics * 2)),
        exact=True,
    )


@template(FRACTION_OF_FLOOR, 1)
def fraction_direct(pick: Pick, law: Law) -> Sketch:
    floor = pick.time("s", 0.4, 0.7, 1.4, 2.8, 5.6, 8)
    times = pick.hide(pick.factor(1.05, 1.1, 1.25, 1.6, 2, 2.5, 3.5, 5))
    observed = pick.told("time", floor * times)
    ratio = law(observed=observed, floor=floor)["ratio"]
    return Sketch(
        f"A collective takes {observed}; its wire floor is {floor}. At what fraction of the floor's speed does it run?",
        "ratio",
        ratio,
        (f"floor / observed = {floor} / {observed} = {say(ratio, 'ratio')}.",),
        (
            slip("upside-down", 1 / ratio, "Nothing runs faster than its floor: the floor goes on top."),
            slip("other-definition", 1 - ratio, "That is the share lost; asked is the share reached."),
        ),
    )


@template(FRACTION_OF_FLOOR, 2)
def fraction_with_its_floor(pick: Pick, law: Law) -> Sketch:
    ranks, size = pick.count(8, 64, 256, 1024), pick.data("GB", 2, 14, 26, 60, 140)
    rate, slower = pick.rate("Gb/s", 100, 200, 400), pick.hide(pick.factor(1.08, 1.25, 1.6, 2, 2.5, 3.6, 4))
    floor = figures(RING_ALL_REDUCE, ranks=ranks, size=size, rate=rate)["time"]
    observed = pick.told("time", floor * slower)
    ratio = law(observed=observed, floor=floor)["ratio"]
    return Sketch(
        f"An all-reduce of {size} over {ranks} ranks in a flat ring, each with a link of {rate}, was seen to take "
        f"{observed}. At what fraction of its floor does it run?",
        "ratio",
        ratio,
        (
            f"The floor first: 2(n−1)/n · {size} at {rate} is {say(floor, 'time')}.",
            f"{say(floor, 'time')} / {observed} = {say(ratio, 'ratio')}.",
        ),
        (
            slip("one-way-for-both", ratio / 2),
            slip("ring-factor", size * 8 / rate / observed),
            slip("upside-down", 1 / ratio, "Nothing runs faster than its floor: the floor goes on top."),
            bits_for_bytes(ratio, 1 / 8),
        ),
    )


@template(FRACTION_OF_FLOOR, 3)
def longest_time_that_is_physics(pick: Pick, law: Law) -> Sketch:
    floor, threshold = pick.time("s", 0.34, 0.68, 1.4, 2.8, 5.6, 9.8), pick.percent(60, 70, 75, 80)
    observed = floor / threshold
    ratio = law(observed=observed, floor=floor, threshold=threshold)["ratio"]
    return Sketch(
        f"The floor of a collective is {floor}. You call it physics as long as it runs at {threshold} of the floor's "
        "speed or better, and a fault below. What is the longest time that is still physics?",
        "time",
        observed,
        (
            f"floor / observed has to be at least {say(ratio, 'ratio')}.",
            f"So observed may be floor / {threshold} = {say(observed, 'time')}.",
        ),
        (
            slip("upside-down", floor * threshold, "That is shorter than the floor, which nothing can be."),
            slip("other-definition", floor * (2 - threshold), "A share of a speed divides the time."),
        ),
    )
