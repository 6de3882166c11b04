"""Drills about one slow rank among many, and about what more ranks bring."""

from __future__ import annotations

import math

from grader.drills.base import Law, Sketch
from grader.drills.picking import Pick
from grader.drills.slips import slip
from grader.drills.template import template
from grader.physics.stragglers import FLAGGED_BELOW
from grader.quantities.stragglers import SCALING_EFFICIENCY, STRAGGLER_COST, STRAGGLER_SCORE
from grader.units import format_quantity as say

TITLE = "Stragglers and scaling"
# Pairs of ranks and chance (in %) whose product is neither tiny nor far past one.
RARE = ((64, 0.5), (128, 0.5), (256, 0.2), (256, 0.5), (512, 0.1), (512, 0.2), (1024, 0.05), (1024, 0.1), (2048, 0.05))


@template(STRAGGLER_COST, 1)
def chance_of_a_slow_step(pick: Pick, law: Law) -> Sketch:
    number, share = RARE[int(pick.word(*map(str, range(len(RARE)))))]
    ranks, probability = pick.count(number), pick.percent(share)
    chance = law(ranks=ranks, slow_factor=2, probability=probability)["chance"]
    return Sketch(
        f"In any step each of {ranks} ranks is slow with probability {probability}, whatever the others do. "
        "Which share of the steps has at least one slow rank?",
        "ratio",
        chance,
        (
            f"All are fast with probability (1−p)ⁿ ≈ e^(−np) = e^(−{ranks * probability:.3g}).",
            f"So at least one is slow in 1 − {1 - chance:.3g} = {say(chance, 'ratio')} of the steps.",
        ),
        (
            slip("linear-chance", ranks * probability),
            slip("total-for-per-rank", probability, "That is one rank's chance; any of them slows the step."),
            slip("upside-down", 1 - chance, "That is the share in which all are fast."),
        ),
    )


@template(STRAGGLER_COST, 2)
def step_with_stragglers(pick: Pick, law: Law) -> Sketch:
    number, share = RARE[int(pick.word(*map(str, range(len(RARE)))))]
    ranks, probability, slower = pick.count(number), pick.percent(share), pick.factor(2, 3, 4, 5)
    step = pick.time("ms", 200, 400, 500, 800, 1200)
    found = law(ranks=ranks, slow_factor=slower, probability=probability)
    time = step * found["step_time_ratio"]
    return Sketch(
        f"A step takes {step} when all {ranks} ranks are well. Each is slow with probability {probability} in a step, "
        f"on its own, and then takes {slower} times as long. How long is a step on average?",
        "time",
        time,
        (
            f"At least one is slow in 1−(1−p)ⁿ = {say(found['chance'], 'ratio')} of the steps.",
            f"Such a step takes {slower} times {step}: all wait for it.",
            f"On average 1 + (f−1) · {found['chance']:.3g} = {found['step_time_ratio']:.3g} times {step}: "
            f"{say(time, 'time')}.",
        ),
        (
            slip("averaged", step * (1 + (slower - 1) * probability)),
            slip("other-definition", step * slower, "That is a step that meets a slow rank; not every one does."),
            slip("linear-chance", step * (1 + (slower - 1) * ranks * probability)),
            slip("other-definition", step * slower * found["chance"], "Steps without a slow rank take their time too."),
        ),
    )


@template(STRAGGLER_COST, 3)
def ranks_until_it_hurts(pick: Pick, law: Law) -> Sketch:
    ranks = pick.hide(pick.count(64, 128, 256, 512, 1024, 2048))
    expected = pick.hide(pick.factor(0.25, 0.5, 0.75, 1))
    probability = pick.told("ratio", expected / ranks)
    chance = pick.told("ratio", law(ranks=ranks, slow_factor=2, probability=expected / ranks)["chance"])
    return Sketch(
        f"Each rank is slow in {probability} of the steps, on its own. At about how many ranks do {chance} of the "
        "steps meet a slow one?",
        "count",
        ranks,
        (
            f"1−(1−p)ⁿ = {chance}, so (1−p)ⁿ = {1 - chance:.3g}.",
            f"n ≈ −ln {1 - chance:.3g} / p = {-math.log(1 - chance):.3g} / {float(probability):.3g} = {ranks:.0f}.",
        ),
        (
            slip("linear-chance", chance / probability),
            slip("upside-down", -math.log(chance) / probability, "That is where as many steps meet none."),
        ),
    )


@template(STRAGGLER_SCORE, 1)
def score_direct(pick: Pick, law: Law) -> Sketch:
    reference, slower = pick.time("ms", 180, 240, 250, 320, 470, 600), pick.factor(1.1, 1.2, 1.3, 1.5, 1.8, 2.4)
    pick.hide(slower)
    own = pick.told("time", reference * slower)
    found = law(own_median=own, reference_median=reference)
    return Sketch(
        f"Outside collectives rank 37 takes {own} a step, the median rank {reference}. What is its straggler score?",
        "ratio",
        found["score"],
        (
            f"Reference over own: {reference} / {own} = {say(found['score'], 'ratio')}.",
            f"Below {say(FLAGGED_BELOW, 'ratio')} it is flagged: here {'yes' if found['flagged'] else 'no'}.",
        ),
        (
            slip("upside-down", 1 / found["score"], "A slow rank scores below one: its own time goes below."),
            slip("other-definition", 1 - found["score"], "That is the speed it lacks."),
        ),
    )


@template(STRAGGLER_SCORE, 2)
def score_behind_totals(pick: Pick, law: Law) -> Sketch:
    total, peers_wait = pick.time("ms", 1200, 1280, 1400, 1600), pick.percent(55, 60, 65, 70)
    own_wait = pick.percent(10, 15, 20, 25, 40)
    own, reference = total * (1 - own_wait), total * (1 - peers_wait)
    score = law(own_median=own, reference_median=reference)["score"]
    return Sketch(
        f"Every rank's step takes {total} in all. The median rank spends {peers_wait} of it inside collectives, rank 5 "
        f"spends {own_wait}. What is rank 5's straggler score against the median rank?",
        "ratio",
        score,
        (
            "Totals are alike since all wait for each other: take the time outside collectives.",
            f"Rank 5: {say(own, 'time')}; the median rank: {say(reference, 'time')}.",
            f"Reference over own: {say(score, 'ratio')}.",
        ),
        (
            slip("step-left-out", 1.0, "Totals hide a straggler: the others wait for it inside the collective."),
            slip("other-definition", own_wait / peers_wait, "Who waits least is late: compare what is not waiting."),
            slip("upside-down", 1 / score, "A slow rank scores below one."),
        ),
    )


@template(STRAGGLER_SCORE, 3)
def flagged_from(pick: Pick, law: Law) -> Sketch:
    reference = pick.time("ms", 150, 180, 240, 300, 360, 450, 540, 600, 750)
    own = reference / FLAGGED_BELOW
    law(own_median=own, reference_median=reference)
    threshold = say(FLAGGED_BELOW, "ratio")
    return Sketch(
        f"A rank is flagged when its straggler score falls below {threshold}. The median rank takes {reference} "
        "outside collectives. From which time on is a rank flagged?",
        "time",
        own,
        (
            f"Score is reference / own, so own = reference / {threshold}.",
            f"{reference} / {FLAGGED_BELOW:g} = {say(own, 'time')}.",
        ),
        (
            slip("upside-down", reference * FLAGGED_BELOW, "That rank is faster than the median."),
            slip("other-definition", reference * (2 - FLAGGED_BELOW), "A share of a speed divides the time."),
        ),
    )


@template(SCALING_EFFICIENCY, 1)
def efficiency_weak(pick: Pick, law: Law) -> Sketch:
    few, many = pick.count(8, 16), pick.count(64, 128, 256)
    before, after = pick.time("s", 0.8, 1.2, 1.5, 2.1), pick.time("s", 2.4, 2.8, 3, 3.2)
    args = {"time_1": before, "ranks_1": few, "time_n": after, "ranks_n": many}
    found = law(**args, kind="weak")
    strong = law(**args, kind="strong")
    return Sketch(
        f"A step took {before} on {few} GPUs. On {many}, with the same work for each GPU, it takes {after}. "
        "What is the scaling efficiency?",
        "ratio",
        found["efficiency"],
        (
            "Work for each GPU is the same: that is weak scaling, in which the step time should not change.",
            f"{before} / {after} = {say(found['efficiency'], 'ratio')}.",
        ),
        (
            slip("other-definition", strong["efficiency"], "That is strong scaling: the same work for all together."),
            slip("upside-down", 1 / found["efficiency"], "The shorter time goes on top."),
            slip("other-definition", 1 - found["efficiency"], "That is what is lost."),
        ),
    )


@template(SCALING_EFFICIENCY, 2)
def efficiency_strong(pick: Pick, law: Law) -> Sketch:
    few, more = pick.count(8, 16, 32), pick.factor(4, 8)
    tokens, efficiency = pick.millions(0.5, 1, 2, 4), pick.hide(pick.percent(45, 55, 65, 75, 85))
    before = pick.time("s", 4, 6, 8, 12)
    many = pick.told("count", few * more)
    pick.hide(more)
    after = before / more / efficiency
    rate = pick.about("count", tokens / after)
    found = law(time_1=before, ranks_1=few, time_n=tokens / rate, ranks_n=many, kind="strong")
    return Sketch(
        f"A step on a batch of {tokens} tokens takes {before} on {few} GPUs. On {many} GPUs, with the same batch, the "
        f"job reports {rate} tokens a second. What is its strong-scaling efficiency?",
        "ratio",
        found["efficiency"],
        (
            f"The step takes {tokens} / {rate} = {say(tokens / rate, 'time')} now.",
            f"Perfect would be {before} · {few}/{many} = {say(before / more, 'time')}.",
            f"Perfect over reached: {say(found['efficiency'], 'ratio')}.",
        ),
        (
            slip("other-definition", found["speedup"], "That is the speed-up; divide it by how many times more GPUs."),
            slip("upside-down", 1 / found["efficiency"], "The shorter time goes on top."),
            slip("other-definition", 1 - found["efficiency"], "That is what is lost."),
        ),
    )


@template(SCALING_EFFICIENCY, 3)
def step_that_is_good_enough(pick: Pick, law: Law) -> Sketch:
    few, more = pick.count(8, 16, 32), pick.factor(4, 8, 16)
    before, least = pick.time("s", 2, 3, 4.8, 6, 8, 12), pick.percent(60, 70, 80, 90)
    many = pick.told("count", few * more)
    pick.hide(more)
    after = before / more / least
    law(time_1=before, ranks_1=few, time_n=after, ranks_n=many, kind="strong")
    return Sketch(
        f"A step takes {before} on {few} GPUs. The same batch shall run on {many} GPUs at a strong-scaling efficiency "
        f"of {least} or better. How long may a step take at most?",
        "time",
        after,
        (
            f"Perfect: {before} · {few}/{many} = {say(before / more, 'time')}.",
            f"At {least}: {say(before / more, 'time')} / {least} = {say(after, 'time')}.",
        ),
        (
            slip("upside-down", before / more * least, "That would be faster than perfect."),
            slip("other-definition", before / least, "That is weak scaling: here the batch stays the same."),
            slip("step-left-out", before / more, "That is an efficiency of 100 %."),
        ),
    )
