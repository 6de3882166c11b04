"""Drills about jobs laid out in several dimensions."""

from __future__ import annotations

from grader.drills.base import Law, Sketch
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.quantities.parallel import (
    GLOBAL_BATCH,
    MOE_ALL_TO_ALL,
    PARALLEL_GROUPS,
    PIPELINE_BUBBLE,
    TENSOR_PARALLEL_TRAFFIC,
)
from grader.units import format_quantity as say

TITLE = "Parallel dimensions"
ORDER = "tensor ranks are neighbours, then context, then data, and pipeline stages lie farthest apart"


@template(PIPELINE_BUBBLE, 1)
def bubble_of_the_step(pick: Pick, law: Law) -> Sketch:
    stages, microbatches = pick.count(2, 4, 8, 12, 16), pick.count(8, 16, 24, 32, 48, 64)
    found = law(stages=stages, microbatches=microbatches)
    share = found["step_share"]
    return Sketch(
        f"A pipeline of {stages} equal stages works on {microbatches} microbatches a step, one chunk a stage. "
        "Which share of the step is a stage idle?",
        "ratio",
        share,
        (
            f"Filling and draining cost p−1 = {stages - 1:.0f} slots, the work is m = {microbatches} slots.",
            f"Idle share: (p−1)/(m+p−1) = {stages - 1:.0f}/{microbatches + stages - 1:.0f} = {say(share, 'ratio')}.",
        ),
        (
            slip("other-definition", found["bubble_over_ideal"], "That is the bubble over the ideal time, (p−1)/m."),
            slip("step-left-out", stages / microbatches, "The first slot of a stage is work: p−1, not p."),
            slip("upside-down", 1 - share, "That is the share in which it works."),
        ),
    )


@template(PIPELINE_BUBBLE, 2)
def bubble_of_a_batch(pick: Pick, law: Law) -> Sketch:
    stages, chunks = pick.count(4, 8, 16), pick.count(2, 4)
    data, per, microbatches = pick.count(8, 16, 32), pick.count(1, 2), pick.hide(pick.count(16, 32, 64))
    batch = pick.told("count", data * per * microbatches)
    ratio = law(stages=stages, microbatches=microbatches, interleave=chunks)["bubble_over_ideal"]
    return Sketch(
        f"A global batch of {batch} sequences is split over {data} data-parallel replicas, in microbatches of {per}. "
        f"Each replica is a pipeline of {stages} stages with {chunks} model chunks a stage, interleaved. How large "
        "is the bubble, over the ideal time of the step?",
        "ratio",
        ratio,
        (
            f"A replica has {batch}/({data} · {per}) = {microbatches:.0f} microbatches.",
            f"The bubble is (p−1)/(v·m) = {stages - 1:.0f}/({chunks} · {microbatches:.0f}) = {say(ratio, 'ratio')}.",
        ),
        (
            slip("step-left-out", ratio * chunks, "Interleaving divides the bubble by the chunks of a stage."),
            slip("step-left-out", ratio / data, "A replica sees its share of the batch alone."),
            slip("step-left-out", ratio / per, "Count microbatches, not sequences."),
            slip("other-definition", ratio / (1 + ratio), "That is the share of the step, bubble included."),
        ),
    )


@template(PIPELINE_BUBBLE, 3)
def microbatches_needed(pick: Pick, law: Law) -> Sketch:
    stages, most = pick.count(5, 9, 11, 17), pick.percent(5, 10, 20, 25)
    microbatches = (stages - 1) / most
    law(stages=stages, microbatches=float(round(microbatches)))
    return Sketch(
        f"The bubble of a pipeline of {stages} stages, one chunk a stage, shall be at most {most} of the ideal time. "
        "How many microbatches does a step need?",
        "count",
        float(round(microbatches)),
        (
            "The bubble over the ideal time is (p−1)/m.",
            f"m = (p−1)/{most} = {stages - 1:.0f}/{float(most):g} = {microbatches:.0f}.",
        ),
        (
            slip("other-definition", (stages - 1) * (1 - most) / most, "That holds it to a share of the whole step."),
            slip("step-left-out", stages / most, "The first slot of a stage is work: p−1, not p."),
        ),
        exact=True,
    )


@template(GLOBAL_BATCH, 1)
def batch_direct(pick: Pick, law: Law) -> Sketch:
    micro, data = pick.count(1, 2, 4, 8), pick.count(8, 16, 32, 64, 128)
    accumulation = pick.count(2, 4, 8, 16)
    samples = law(microbatch=micro, data_parallel=data, accumulation=accumulation)["samples"]
    return Sketch(
        f"Each of {data} data-parallel ranks takes microbatches of {micro} and steps its optimizer after "
        f"{accumulation} of them. How many samples does a step see?",
        "count",
        samples,
        (f"{micro} · {data} · {accumulation} = {samples:.0f}.",),
        (
            slip("step-left-out", samples / accumulation, "Gradients of every accumulated microbatch go into a step."),
            slip("total-for-per-rank", samples / data, "That is what one rank reads."),
            slip("step-left-out", samples / micro, "That counts microbatches, not samples."),
        ),
        exact=True,
    )


@template(GLOBAL_BATCH, 2)
def batch_of_a_world(pick: Pick, law: Law) -> Sketch:
    world, tensor, pipeline = pick.count(256, 512, 1024), pick.count(2, 4, 8), pick.count(2, 4)
    micro, accumulation = pick.count(1, 2), pick.count(4, 8, 16)
    data = world / tensor / pipeline
    samples = law(microbatch=micro, data_parallel=data, accumulation=accumulation)["samples"]
    return Sketch(
        f"{world} GPUs: tensor-parallel over {tensor}, pipeline-parallel over {pipeline}, data-parallel over the rest. "
        f"Microbatches of {micro}, {accumulation} accumulated a step. What is the global batch, in samples?",
        "count",
        samples,
        (
            f"Data-parallel ranks: {world}/({tensor} · {pipeline}) = {data:.0f}. The others share their samples.",
            f"{micro} · {data:.0f} · {accumulation} = {samples:.0f}.",
        ),
        (
            slip("world-for-data-parallel", samples * tensor * pipeline),
            slip("world-for-data-parallel", samples * tensor, "Tensor-parallel ranks share their samples too."),
            slip("world-for-data-parallel", samples * pipeline, "Pipeline stages share their samples too."),
            slip("step-left-out", samples / accumulation, "Gradients of every accumulated microbatch go into a step."),
        ),
        exact=True,
    )


@template(GLOBAL_BATCH, 3)
def accumulation_that_keeps_it(pick: Pick, law: Law) -> Sketch:
    before, micro = pick.count(64, 128, 256), pick.count(1, 2, 4)
    held, fewer = pick.count(2, 4), pick.count(2, 4, 8)
    after = pick.told("count", before / fewer)
    pick.hide(fewer)
    accumulation = held * fewer
    samples = law(microbatch=micro, data_parallel=after, accumulation=accumulation)["samples"]
    return Sketch(
        f"A job ran on {before} data-parallel ranks with microbatches of {micro} and {held} accumulated a step. It "
        f"resumes on {after} ranks with the same microbatch. How many must it accumulate to keep its global batch?",
        "count",
        accumulation,
        (
            f"The batch was {micro} · {before} · {held} = {samples:.0f} samples.",
            f"Now {samples:.0f}/({micro} · {after}) = {accumulation:.0f}.",
        ),
        (
            slip("step-left-out", held, "With the same accumulation the batch shrinks with the ranks."),
            slip("upside-down", held / fewer, "Fewer ranks have to take more each, not fewer."),
            slip("step-left-out", fewer, "There was accumulation before, too: multiply it."),
        ),
        exact=True,
    )


@template(PARALLEL_GROUPS, 1)
def replicas_of_a_world(pick: Pick, law: Law) -> Sketch:
    world, tensor, pipeline = pick.count(256, 512, 1024, 2048), pick.count(2, 4, 8), pick.count(2, 4)
    context = pick.count(2, 4)
    data = law(world=world, tensor=tensor, pipeline=pipeline, context=context)["data_parallel"]
    return Sketch(
        f"{world} ranks: tensor {tensor}, pipeline {pipeline}, context {context}. "
        "How many data-parallel replicas of the model are there?",
        "count",
        data,
        (f"{world}/({tensor} · {pipeline} · {context}) = {data}.",),
        (
            slip("world-for-data-parallel", world, "Ranks of one replica hold different parts of it."),
            slip("world-for-data-parallel", data * context, "Ranks that share a sequence share a replica."),
            slip("world-for-data-parallel", data * pipeline, "Stages of a pipeline share a replica."),
        ),
        exact=True,
    )


@template(PARALLEL_GROUPS, 2)
def neighbour_in_the_pipeline(pick: Pick, law: Law) -> Sketch:
    world, tensor, pipeline = pick.count(32, 64, 128, 256), pick.count(2, 4, 8), pick.count(2, 4)
    groups = law(world=world, tensor=tensor, pipeline=pipeline)
    following = groups["pipeline"][0][1]
    return Sketch(
        f"{world} ranks, tensor {tensor}, pipeline {pipeline}, data the rest. Ranks are numbered so that {ORDER}. "
        "Rank 0 is in the first stage. To which rank does it send its activations?",
        "count",
        following,
        (
            f"A stage holds {world}/{pipeline} = {following} consecutive ranks.",
            f"The stages of one pipeline are {following} apart: rank 0 sends to rank {following}.",
        ),
        (
            slip("other-definition", tensor, "That rank is the next in rank 0's data-parallel group."),
            slip("other-definition", 1, "That rank shares rank 0's layers (tensor parallelism)."),
            slip("step-left-out", groups["data_parallel"], "A stage holds data · tensor ranks."),
        ),
        exact=True,
    )


@template(PARALLEL_GROUPS, 3)
def world_of_replicas(pick: Pick, law: Law) -> Sketch:
    tensor, pipeline, context = pick.count(2, 4, 8), pick.count(2, 4, 8), pick.count(1, 2)
    data, expert = pick.count(8, 16, 32), pick.count(2, 4, 8)
    world = tensor * pipeline * context * data
    replicas = law(world=world, tensor=tensor, pipeline=pipeline, context=context, expert=expert)["data_parallel"]
    return Sketch(
        f"You want {data} replicas of the dense weights, each with tensor {tensor}, pipeline {pipeline} and context "
        f"{context}; experts are divided over {expert} of the data-parallel ranks. How many ranks does the job need?",
        "count",
        world,
        (
            f"A replica has {tensor} · {pipeline} · {context} = {world / data:.0f} ranks; {replicas} replicas.",
            f"Experts live on the data-parallel ranks and need none of their own: {world:.0f}.",
        ),
        (
            slip("step-left-out", world * expert, "Expert groups are made of data-parallel ranks, not beside them."),
            slip("step-left-out", world / context, "Ranks that share a sequence are ranks too."),
            slip("per-rank-for-total", world / data, "That is one replica."),
        ),
        exact=True,
    )


@template(TENSOR_PARALLEL_TRAFFIC, 1)
def tensor_traffic_direct(pick: Pick, law: Law) -> Sketch:
    seq, hidden, layers = pick.count(2048, 4096, 8192), pick.count(4096, 8192, 12288), pick.count(32, 48, 80, 96)
    tensor = pick.count(2, 4, 8)
    sent = law(batch=1, seq=seq, hidden=hidden, layers=layers, tensor=tensor, bytes=2)["bytes_per_rank"]
    return Sketch(
        f"{layers} layers of hidden size {hidden} are shared by {tensor} tensor-parallel ranks, in BF16. One sequence "
        f"of {seq} tokens goes forward and backward. How many bytes does a rank send?",
        "data",
        sent,
        (
            f"Activations of a layer: {seq} · {hidden} · 2 B = {say(seq * hidden * 2, 'data')}.",
            "Each layer has four all-reduces of them: two forward, two backward.",
            f"A rank sends 2(t−1)/t = {2 * (tensor - 1) / tensor:.3g} of each; {layers} layers: {say(sent, 'data')}.",
        ),
        (
            slip("one-way-for-both", sent / 2, "That is forward alone, or two all-reduces a layer."),
            slip("ring-factor", 4 * layers * seq * hidden * 2),
            slip("step-left-out", sent / layers, "That is one layer."),
            slip("precision", sent * 2),
        ),
    )


@template(TENSOR_PARALLEL_TRAFFIC, 2)
def tensor_traffic_in_time(pick: Pick, law: Law) -> Sketch:
    seq, hidden, layers = pick.count(4096, 8192), pick.count(8192, 12288), pick.count(48, 80, 96)
    tensor, microbatches = pick.count(4, 8), pick.count(4, 8, 16, 32)
    rate = pick.rate("GB/s", 50, 300, 450)
    once = law(batch=1, seq=seq, hidden=hidden, layers=layers, tensor=tensor, bytes=2)["bytes_per_rank"]
    time = once * microbatches * 8 / rate
    return Sketch(
        f"{layers} layers of hidden size {hidden}, {tensor} tensor-parallel ranks, BF16, {microbatches} microbatches "
        f"of one sequence of {seq} tokens a step. Links carry {rate} a rank one way. "
        "How long do a step's tensor-parallel all-reduces take, if nothing hides them?",
        "time",
        time,
        (
            f"A microbatch: 4 · {layers} · 2(t−1)/t · {seq} · {hidden} · 2 B = {say(once, 'data')} a rank.",
            f"{microbatches} of them: {say(once * microbatches, 'data')}.",
            f"Over {rate}: {say(time, 'time')}.",
        ),
        (
            slip("step-left-out", time / microbatches, "That is one microbatch; a step has several."),
            slip("one-way-for-both", time / 2, "That is forward alone, or two all-reduces a layer."),
            bits_for_bytes(time),
            slip("step-left-out", time / layers, "That is one layer."),
        ),
    )


@template(TENSOR_PARALLEL_TRAFFIC, 3)
def microbatch_within_a_budget(pick: Pick, law: Law) -> Sketch:
    batch = pick.hide(pick.count(1, 2, 4, 8))
    seq, hidden, layers = pick.count(2048, 4096, 8192), pick.count(4096, 8192), pick.count(32, 48, 80)
    sent = law(batch=batch, seq=seq, hidden=hidden, layers=layers, tensor=8, bytes=2)["bytes_per_rank"]
    budget = pick.told("data", sent * 1.05)
    return Sketch(
        f"Eight tensor-parallel ranks share {layers} layers of hidden size {hidden}, in BF16. A rank shall send at "
        f"most {budget} for one microbatch, forward and backward. How many sequences of {seq} tokens may it hold?",
        "count",
        batch,
        (
            f"One sequence: 4 · {layers} · 2·7/8 · {seq} · {hidden} · 2 B = {say(sent / batch, 'data')}.",
            f"{budget} over that, rounded down: {batch:.0f}.",
        ),
        (
            slip("one-way-for-both", batch * 2, "Forward and backward have two all-reduces a layer each."),
            slip("step-left-out", batch * layers, "Every layer sends its own."),
        ),
        exact=True,
    )


@template(MOE_ALL_TO_ALL, 1)
def dispatch_direct(pick: Pick, law: Law) -> Sketch:
    tokens, hidden = pick.count(4096, 8192, 16384), pick.count(2048, 4096, 7168)
    top, ranks = pick.count(2, 4, 6, 8), pick.count(8, 16, 32, 64)
    found = law(tokens=tokens, hidden=hidden, top_k=top, experts_parallel=ranks, bytes=2)
    sent = found["dispatch"]
    return Sketch(
        f"A rank holds {tokens} tokens of hidden size {hidden} in BF16; each goes to {top} experts, spread evenly "
        f"over {ranks} ranks. How many bytes does the rank send in the dispatch (one all-to-all)?",
        "data",
        sent,
        (
            f"{tokens} · {top} copies of {hidden} · 2 B: {say(tokens * top * hidden * 2, 'data')}.",
            f"Of them (n−1)/n leave the rank: {say(sent, 'data')}.",
        ),
        (
            slip("both-for-one-way", found["forward"], "That is dispatch and combine."),
            slip("step-left-out", sent / top, "A token is sent to each of its experts."),
            slip("precision", sent * 2),
            slip("per-rank-for-total", sent * ranks),
        ),
    )


@template(MOE_ALL_TO_ALL, 2)
def experts_of_a_step(pick: Pick, law: Law) -> Sketch:
    tokens, hidden, layers = pick.count(4096, 8192), pick.count(4096, 7168), pick.count(24, 32, 58)
    top, ranks, rate = pick.count(2, 4, 8), pick.count(8, 16, 32, 64), pick.rate("Gb/s", 200, 400)
    found = law(tokens=tokens, hidden=hidden, top_k=top, experts_parallel=ranks, bytes=2)
    time = found["step"] * layers * 8 / rate
    return Sketch(
        f"{layers} layers of experts, {tokens} tokens a rank of hidden size {hidden} in BF16, {top} experts a token, "
        f"spread evenly over {ranks} ranks with links of {rate}. How long do the all-to-alls of forward and backward "
        "take together, if nothing hides them?",
        "time",
        time,
        (
            f"One all-to-all: {tokens} · {top} · {hidden} · 2 B · (n−1)/n = {say(found['dispatch'], 'data')}.",
            f"A layer has four: dispatch and combine, forward and backward: {say(found['step'], 'data')}.",
            f"{layers} layers at {rate}: {say(time, 'time')}.",
        ),
        (
            slip("one-way-for-both", time / 2, "That is forward alone, or dispatch alone."),
            slip("one-way-for-both", time / 4, "That is dispatch alone; there are four all-to-alls."),
            slip("step-left-out", time / layers, "That is one layer."),
            slip("step-left-out", time / top, "A token is sent to each of its experts."),
            bits_for_bytes(time, 1 / 8),
        ),
    )


@template(MOE_ALL_TO_ALL, 3)
def experts_a_token_may_have(pick: Pick, law: Law) -> Sketch:
    tokens, hidden = pick.count(4096, 8192), pick.count(2048, 4096, 7168)
    top, ranks = pick.hide(pick.count(1, 2, 4, 6, 8)), pick.count(8, 16, 64)
    found = law(tokens=tokens, hidden=hidden, top_k=top, experts_parallel=ranks, bytes=2)
    budget = pick.told("data", found["forward"] * 1.04)
    return Sketch(
        f"A rank has {tokens} tokens of hidden size {hidden} in BF16, experts are spread evenly over {ranks} ranks. "
        f"Forward through one layer (dispatch and combine) it may send {budget}. To how many experts can a token go?",
        "count",
        top,
        (
            f"One expert a token: 2 · {tokens} · {hidden} · 2 B · (n−1)/n = {say(found['forward'] / top, 'data')}.",
            f"{budget} over that, rounded down: {top:.0f}.",
        ),
        (
            slip("one-way-for-both", top * 2, "Forward has two all-to-alls: dispatch and combine."),
            slip("precision", top / 2),
        ),
        exact=True,
    )
