"""Drills about the arithmetic of a dense transformer."""

from __future__ import annotations

from grader.drills.base import DAY_S, Law, Sketch
from grader.drills.picking import Pick
from grader.drills.slips import slip
from grader.drills.template import template
from grader.quantities.transformers import ITERATION_FLOPS, MFU, TRAINING_DAYS, TRANSFORMER_PARAMS
from grader.units import format_quantity as say

TITLE = "Parameters, FLOP and MFU"
SHAPES = ((24, 2048), (32, 4096), (40, 5120), (48, 7168), (60, 8192), (80, 8192), (96, 12288))


def _shape(pick: Pick) -> tuple[float, float]:
    """Layers and hidden size that belong together, drawn as one."""
    layers, hidden = SHAPES[int(pick.word(*map(str, range(len(SHAPES)))))]
    return pick.count(layers), pick.count(hidden)


@template(TRANSFORMER_PARAMS, 1)
def parameters_direct(pick: Pick, law: Law) -> Sketch:
    layers, hidden = _shape(pick)
    vocab, seq = pick.count(32000, 51200, 128000), pick.count(2048, 4096)
    params = law(layers=layers, hidden=hidden, vocab=vocab, seq=seq)["parameters"]
    blocks = 12 * layers * hidden**2
    return Sketch(
        f"A dense transformer has {layers} layers of hidden size {hidden}, an MLP four times as wide, a vocabulary of "
        f"{vocab} (input and output embedding shared) and {seq} positions. How many parameters are that?",
        "count",
        params,
        (
            f"A layer has about 12h²: 4h² of attention and 8h² of MLP. {layers} layers: {say(blocks, 'count')}.",
            f"Embeddings add (V+s)·h = {say((vocab + seq) * hidden, 'count')}, biases and norms next to nothing.",
            f"Together {say(params, 'count')}.",
        ),
        (
            slip("step-left-out", blocks / 3, "That is attention alone; the MLP has twice as many."),
            slip("step-left-out", blocks * 2 / 3, "That is the MLP alone; attention has half as many."),
            slip("step-left-out", blocks / layers, "That is one layer."),
        ),
    )


@template(TRANSFORMER_PARAMS, 2)
def bytes_of_weights(pick: Pick, law: Law) -> Sketch:
    layers, hidden = _shape(pick)
    vocab = pick.count(32000, 51200, 128000)
    params = law(layers=layers, hidden=hidden, vocab=vocab, seq=2048)["parameters"]
    return Sketch(
        f"{layers} layers of hidden size {hidden} with an MLP four times as wide, a vocabulary of {vocab}, shared "
        "embeddings, 2048 positions: how many bytes do the gradients take in BF16?",
        "data",
        params * 2,
        (
            f"12·l·h² + (V+s)·h = {say(params, 'count')} parameters.",
            f"Two bytes each: {say(params * 2, 'data')}.",
        ),
        (
            slip("precision", params * 4, "That is FP32; BF16 has two bytes a number."),
            slip("step-left-out", params, "Parameters are no bytes: each has two in BF16."),
            slip("step-left-out", params * 2 / 3, "That is attention alone; the MLP has twice as many."),
        ),
    )


@template(TRANSFORMER_PARAMS, 3)
def layers_of_a_size(pick: Pick, law: Law) -> Sketch:
    layers = pick.hide(pick.count(24, 32, 40, 48, 60, 80, 96))
    hidden, vocab = pick.count(4096, 5120, 8192), pick.count(32000, 51200)
    params = pick.told("count", law(layers=layers, hidden=hidden, vocab=vocab, seq=2048)["parameters"])
    rest = params - (vocab + 2048) * hidden
    return Sketch(
        f"A dense transformer of {params} parameters has hidden size {hidden}, an MLP four times as wide, a "
        f"vocabulary of {vocab} with shared embeddings and 2048 positions. About how many layers has it?",
        "count",
        layers,
        (
            f"Embeddings hold (V+s)·h = {say((vocab + 2048) * hidden, 'count')}; {say(rest, 'count')} are left.",
            f"A layer has 12h² = {say(12 * hidden**2, 'count')}.",
            f"That makes {layers:.0f} layers.",
        ),
        (
            slip("step-left-out", rest / (4 * hidden**2), "4h² is attention alone; a layer has 12h²."),
            slip("step-left-out", rest / (8 * hidden**2), "8h² is the MLP alone; a layer has 12h²."),
            slip("step-left-out", params / (12 * hidden**2), "Take the embeddings off first."),
        ),
    )


@template(ITERATION_FLOPS, 1)
def flops_of_a_step(pick: Pick, law: Law) -> Sketch:
    layers, hidden = _shape(pick)
    batch, seq = pick.count(256, 512, 1024, 1536, 2048), pick.count(2048, 4096)
    flops = law(batch=batch, seq=seq, layers=layers, hidden=hidden, vocab=51200)["flops"]
    plain = 96 * batch * seq * layers * hidden**2
    return Sketch(
        f"A step trains on {batch} sequences of {seq} tokens: {layers} layers, hidden size {hidden}, a vocabulary of "
        "51200, every activation recomputed. How many FLOP does a step take, all GPUs together?",
        "compute",
        flops,
        (
            f"With recomputation a step has 96·B·s·l·h² = {say(plain, 'compute')} in its matrices.",
            f"Attention adds s/(6h), the output layer V/(16lh): times {flops / plain:.3g}.",
            f"Together {say(flops, 'compute')}.",
        ),
        (
            slip("other-definition", flops * 0.75, "That is without recomputation, which runs forward once more."),
            slip("one-way-for-both", flops / 4, "That is the forward pass alone; with recomputation there are four."),
            slip("step-left-out", flops / seq, "A batch is counted in sequences here: multiply by their tokens."),
        ),
    )


@template(ITERATION_FLOPS, 2)
def seconds_of_a_step(pick: Pick, law: Law) -> Sketch:
    layers, hidden = _shape(pick)
    tokens, gpus = pick.millions(1, 2, 4), pick.count(128, 256, 512, 1024)
    achieved = pick.compute_rate("TFLOP/s", 120, 140, 160, 400)
    flops = law(batch=tokens / 2000, seq=2000, layers=layers, hidden=hidden, vocab=50000)["flops"]
    time = flops / gpus / achieved
    return Sketch(
        f"A batch of {tokens} tokens in sequences of 2000 goes through {layers} layers of hidden size {hidden} "
        f"(vocabulary 50000), every activation recomputed, on {gpus} GPUs that achieve {achieved} each. "
        "How long does a step take?",
        "time",
        time,
        (
            f"B·s is {tokens} tokens; 96·B·s·l·h²·(1 + s/(6h) + V/(16lh)) = {say(flops, 'compute')}.",
            f"Together the GPUs do {say(gpus * achieved, 'compute-rate')}.",
            f"So {say(time, 'time')}.",
        ),
        (
            slip("other-definition", time * 0.75, "That leaves recomputation out: 96, not 72."),
            slip("one-way-for-both", time / 4, "That is the forward pass alone."),
            slip("total-for-per-rank", time * gpus, "All GPUs work at once."),
        ),
    )


@template(ITERATION_FLOPS, 3)
def achieved_of_a_step(pick: Pick, law: Law) -> Sketch:
    layers, hidden = _shape(pick)
    batch, gpus = pick.count(512, 1024, 2048), pick.count(128, 256, 512, 1024)
    achieved = pick.hide(pick.compute_rate("TFLOP/s", 90, 120, 140, 160, 200))
    flops = law(batch=batch, seq=2048, layers=layers, hidden=hidden, vocab=51200)["flops"]
    time = pick.told("time", flops / gpus / achieved)
    return Sketch(
        f"A step of {batch} sequences of 2048 tokens takes {time} on {gpus} GPUs: {layers} layers, hidden size "
        f"{hidden}, vocabulary 51200, every activation recomputed. What does each GPU achieve?",
        "compute-rate",
        achieved,
        (
            f"96·B·s·l·h²·(1 + s/(6h) + V/(16lh)) = {say(flops, 'compute')}.",
            f"Over {time}: {say(flops / time, 'compute-rate')} by all.",
            f"Over {gpus} GPUs: {say(achieved, 'compute-rate')} each, recomputation counted.",
        ),
        (
            slip("other-definition", achieved * 0.75, "That is model FLOP alone; asked is what the GPU does."),
            slip("total-for-per-rank", achieved * gpus),
            slip("one-way-for-both", achieved / 4, "That counts the forward pass alone."),
        ),
    )


@template(TRAINING_DAYS, 1)
def days_direct(pick: Pick, law: Law) -> Sketch:
    params, tokens = pick.billions(7, 13, 30, 70, 175), pick.billions(100, 200, 300, 500, 1000)
    gpus, achieved = pick.count(256, 512, 1024, 2048), pick.compute_rate("TFLOP/s", 120, 140, 160)
    time = law(params=params, tokens=tokens, gpus=gpus, achieved=achieved)["days"]
    return Sketch(
        f"{params} parameters train on {tokens} tokens, every activation recomputed, on {gpus} GPUs that achieve "
        f"{achieved} each. How long does it take?",
        "time",
        time,
        (
            f"8·T·P with recomputation: {say(8 * params * tokens, 'compute')}.",
            f"The GPUs do {say(gpus * achieved, 'compute-rate')}.",
            f"That takes {time / DAY_S:.3g} days.",
        ),
        (
            slip("other-definition", time * 6 / 8, "6TP is training without recomputation."),
            slip("one-way-for-both", time / 4, "2TP is the forward pass alone."),
            slip("total-for-per-rank", time * gpus, "That is one GPU's time; they work at once."),
        ),
    )


@template(TRAINING_DAYS, 2)
def days_at_an_mfu(pick: Pick, law: Law) -> Sketch:
    params, tokens = pick.billions(7, 13, 34, 70), pick.billions(500, 1000, 2000)
    gpus, peak = pick.count(512, 1024, 2048), pick.compute_rate("TFLOP/s", 312, 990)
    share = pick.percent(35, 40, 45, 50)
    time = law(params=params, tokens=tokens, gpus=gpus, achieved=peak * share, recompute="none")["days"]
    return Sketch(
        f"{params} parameters, {tokens} tokens, nothing recomputed, {gpus} GPUs with a peak of {peak} at an MFU of "
        f"{share}. How long does training take?",
        "time",
        time,
        (
            f"6·T·P without recomputation: {say(6 * params * tokens, 'compute')}.",
            f"A GPU achieves {share} of {peak}: {say(peak * share, 'compute-rate')}.",
            f"Over {gpus} of them: {time / DAY_S:.3g} days.",
        ),
        (
            slip("step-left-out", time * share, "No job reaches the peak: multiply it by the MFU."),
            slip("other-definition", time * 8 / 6, "8TP is training with everything recomputed."),
            slip("one-way-for-both", time / 3, "2TP is the forward pass alone."),
        ),
    )


@template(TRAINING_DAYS, 3)
def gpus_for_a_date(pick: Pick, law: Law) -> Sketch:
    params, tokens = pick.billions(7, 13, 30, 70), pick.billions(300, 500, 1000)
    gpus = pick.hide(pick.count(256, 512, 1024, 2048, 4096))
    achieved = pick.compute_rate("TFLOP/s", 140, 400)
    time = pick.told("time", law(params=params, tokens=tokens, gpus=gpus, achieved=achieved)["days"])
    return Sketch(
        f"{params} parameters have to be trained on {tokens} tokens within {time}, every activation recomputed, on "
        f"GPUs that achieve {achieved}. About how many does it take?",
        "count",
        gpus,
        (
            f"8·T·P = {say(8 * params * tokens, 'compute')}.",
            f"Within {time} that is {say(8 * params * tokens / time, 'compute-rate')}.",
            f"Over {achieved} a GPU: {gpus:.0f}.",
        ),
        (
            slip("other-definition", gpus * 6 / 8, "6TP is training without recomputation."),
            slip("one-way-for-both", gpus / 4, "2TP is the forward pass alone."),
        ),
    )


@template(MFU, 1)
def mfu_direct(pick: Pick, law: Law) -> Sketch:
    params, gpus = pick.billions(7, 13, 30, 70), pick.count(64, 128, 256, 512, 1024)
    peak, share = pick.compute_rate("TFLOP/s", 312, 990), pick.hide(pick.percent(18, 22, 28, 34, 40, 46, 52))
    rate = pick.about("count", share * gpus * peak / (6 * params))
    ratio = law(params=params, tokens_per_s=rate, gpus=gpus, peak=peak)["mfu"]
    return Sketch(
        f"A job of {params} parameters trains {rate} tokens a second on {gpus} GPUs with a peak of {peak}. "
        "What is its MFU, attention left out?",
        "ratio",
        ratio,
        (
            f"6 FLOP a parameter and token: 6 · {params} · {rate} = {say(6 * params * rate, 'compute-rate')}.",
            f"The peak of all is {say(gpus * peak, 'compute-rate')}.",
            f"The share is {say(ratio, 'ratio')}.",
        ),
        (
            slip("other-definition", ratio * 8 / 6, "8 counts recomputation: that is HFU, not MFU."),
            slip("one-way-for-both", ratio / 3, "2 is the forward pass alone; backward takes twice as much."),
        ),
    )


@template(MFU, 2)
def mfu_of_a_step(pick: Pick, law: Law) -> Sketch:
    params, gpus = pick.billions(7, 13, 30, 70), pick.count(128, 256, 512, 1024)
    batch, seq = pick.count(512, 1024, 2048), pick.count(2048, 4096)
    peak, share = pick.compute_rate("TFLOP/s", 312, 990), pick.hide(pick.percent(20, 26, 32, 38, 44, 50))
    time = pick.told("time", 6 * params * batch * seq / (gpus * peak * share))
    ratio = law(params=params, tokens_per_s=batch * seq / time, gpus=gpus, peak=peak)["mfu"]
    return Sketch(
        f"{params} parameters; a step of {batch} sequences of {seq} tokens takes {time} on {gpus} GPUs with a peak of "
        f"{peak}. What is the MFU, attention left out?",
        "ratio",
        ratio,
        (
            f"Tokens a second: {batch} · {seq} / {time} = {say(batch * seq / time, 'count')}.",
            f"6 FLOP a parameter and token: {say(6 * params * batch * seq / time, 'compute-rate')}.",
            f"Of {say(gpus * peak, 'compute-rate')}: {say(ratio, 'ratio')}.",
        ),
        (
            slip("other-definition", ratio * 8 / 6, "8 counts recomputation: that is HFU, not MFU."),
            slip("one-way-for-both", ratio / 3, "2 is the forward pass alone."),
        ),
    )


@template(MFU, 3)
def tokens_at_an_mfu(pick: Pick, law: Law) -> Sketch:
    params, gpus = pick.billions(7, 13, 30, 70), pick.count(128, 256, 512, 1024)
    peak, share = pick.compute_rate("TFLOP/s", 312, 990), pick.percent(30, 35, 40, 45, 50)
    rate = share * gpus * peak / (6 * params)
    law(params=params, tokens_per_s=rate, gpus=gpus, peak=peak)
    return Sketch(
        f"A job of {params} parameters on {gpus} GPUs with a peak of {peak} ran at an MFU of {share}, attention left "
        "out. How many tokens a second is that?",
        "count",
        rate,
        (
            f"{share} of {gpus} · {peak} is {say(share * gpus * peak, 'compute-rate')}.",
            f"A token costs 6 · {params} = {say(6 * params, 'compute')}.",
            f"So {say(rate, 'count')} tokens a second.",
        ),
        (
            slip("other-definition", rate * 6 / 8, "8 counts recomputation, which MFU never does."),
            slip("one-way-for-both", rate * 3, "2 is the forward pass alone."),
            slip("step-left-out", rate / share, "That is at the peak; the job reaches a share of it."),
            slip("total-for-per-rank", rate / gpus, "That is one GPU's; the job has them all."),
        ),
    )
