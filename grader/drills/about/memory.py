"""Drills about what a rank holds."""

from __future__ import annotations

from grader.drills.base import Law, Sketch
from grader.drills.picking import Pick
from grader.drills.slips import slip
from grader.drills.template import template
from grader.quantities.memory import ACTIVATION_MEMORY, ZERO_MEMORY
from grader.units import format_quantity as say

TITLE = "Memory of a rank"
BYTES_A_PARAMETER = "2 bytes a parameter of weight, 2 of gradient, 12 of Adam's state (an FP32 copy, two moments)"
SHARDED = {1: "the optimizer's state", 2: "gradients and the optimizer's state", 3: "everything"}


@template(ZERO_MEMORY, 1)
def zero_direct(pick: Pick, law: Law) -> Sketch:
    params, ranks, stage = pick.billions(1, 3, 7, 8, 13, 30), pick.count(8, 16, 32, 64), pick.count(1, 2, 3)
    held = law(params=params, ranks=ranks, stage=stage)["bytes_per_rank"]
    others = [
        law(params=params, ranks=ranks, stage=other)["bytes_per_rank"] for other in range(4) if other != int(stage)
    ]
    return Sketch(
        f"{params} parameters train in mixed precision with Adam: {BYTES_A_PARAMETER}. ZeRO stage {stage} shards "
        f"{SHARDED[int(stage)]} over {ranks} ranks. How much of these does a rank hold?",
        "data",
        held,
        (
            "Whole: 2 + 2 + 12 bytes a parameter. What is sharded is divided by the number of ranks.",
            f"Stage {stage} shards {SHARDED[int(stage)]}: {held / params:.4g} bytes a parameter are left.",
            f"Times {params}: {say(held, 'data')}.",
        ),
        (
            *(slip("other-definition", other, "That is another stage of ZeRO.") for other in others),
            slip("per-rank-for-total", held * ranks),
            slip("weights-alone", params * 2, "Gradients and the optimizer's state are held too."),
        ),
    )


@template(ZERO_MEMORY, 2)
def zero_beside_tensor_parallel(pick: Pick, law: Law) -> Sketch:
    params, tensor, world = pick.billions(13, 30, 70, 180), pick.count(2, 4, 8), pick.count(64, 128, 256, 512)
    ranks, held_params = world / tensor, params / tensor
    held = law(params=held_params, ranks=ranks, stage=1)["bytes_per_rank"]
    return Sketch(
        f"{params} parameters on {world} GPUs, tensor-parallel over {tensor} and data-parallel over the rest. ZeRO "
        f"stage 1 shards Adam's twelve bytes a parameter over the data-parallel ranks; weights and gradients are BF16. "
        "How much of weights, gradients and optimizer state does a GPU hold?",
        "data",
        held,
        (
            f"Tensor parallelism leaves a GPU {say(held_params, 'count')} parameters, {ranks:.0f} ranks share them.",
            f"Weights and gradients stay whole: 4 bytes. Adam's 12 are divided by {ranks:.0f}.",
            f"{held / held_params:.4g} bytes times {say(held_params, 'count')}: {say(held, 'data')}.",
        ),
        (
            slip("step-left-out", law(params=params, ranks=ranks, stage=1)["bytes_per_rank"], "Divide by tensor too."),
            slip("weights-alone", held_params * 2, "Gradients and the optimizer's state are held too."),
            slip("other-definition", law(params=held_params, ranks=ranks, stage=0)["bytes_per_rank"], "Unsharded."),
            slip("other-definition", law(params=held_params, ranks=ranks, stage=3)["bytes_per_rank"], "Stage 3."),
        ),
    )


@template(ZERO_MEMORY, 3)
def ranks_for_a_budget(pick: Pick, law: Law) -> Sketch:
    params = pick.billions(7, 13, 30, 70, 180, 405)
    ranks = pick.hide(pick.count(16, 32, 64, 128, 256))
    held = pick.told("data", law(params=params, ranks=ranks, stage=3)["bytes_per_rank"])
    return Sketch(
        f"Everything of {params} parameters is sharded, ZeRO stage 3: {BYTES_A_PARAMETER}. A rank can spare {held} "
        "for it. Over about how many ranks does it have to be sharded?",
        "count",
        ranks,
        (
            f"16 bytes a parameter: {say(16 * params, 'data')} in all.",
            f"Divided by {held} a rank: {ranks:.0f} ranks.",
        ),
        (
            slip("weights-alone", params * 2 / held, "Gradients and the optimizer's state are sharded with them."),
            slip("gradients-saved", params * 14 / held, "That leaves the gradients out: 2 + 2 + 12."),
            slip("other-definition", params * 12 / held, "That is Adam's state alone."),
            slip("other-definition", params * 4 / held, "That is weights and gradients without Adam's state."),
        ),
    )


@template(ACTIVATION_MEMORY, 1)
def activations_of_one_gpu(pick: Pick, law: Law) -> Sketch:
    layers, hidden, seq = pick.count(24, 32, 40), pick.count(2048, 4096, 5120), pick.count(2048, 4096, 8192)
    batch = pick.count(1, 2, 4)
    args = {"batch": batch, "seq": seq, "hidden": hidden, "layers": layers, "heads": hidden / 128}
    held = law(**args, selective=True)["bytes_per_rank"]
    return Sketch(
        f"A layer keeps 34 bytes of 16-bit activations for each of its s·b·h elements, attention scores not counted: "
        f"they are recomputed. {layers} layers of hidden size {hidden}, a microbatch of {batch} sequences of {seq} "
        "tokens, no tensor parallelism. What do the activations take?",
        "data",
        held,
        (
            f"Elements of a layer: {batch} · {seq} · {hidden} = {say(batch * seq * hidden, 'count')}.",
            f"34 bytes each: {say(held / layers, 'data')} a layer.",
            f"{layers} layers: {say(held, 'data')}.",
        ),
        (
            slip("step-left-out", held / layers, "That is one layer; each keeps its own."),
            slip("precision", held / 34 * 2, "That counts one tensor a layer; a layer keeps about seventeen."),
            slip("other-definition", law(**args)["bytes_per_rank"], "That keeps attention scores as well."),
        ),
    )


@template(ACTIVATION_MEMORY, 2)
def activations_in_parallel(pick: Pick, law: Law) -> Sketch:
    tensor, layers, stages = pick.count(2, 4, 8), pick.count(32, 48, 64, 80, 96), pick.count(2, 4, 8)
    hidden, seq = pick.count(4096, 8192, 12288), pick.count(2048, 4096)
    args = {"batch": 1, "seq": seq, "hidden": hidden, "layers": layers / stages, "heads": hidden / 128}
    args["layers"] = float(round(args["layers"]))
    held = law(**args, tensor_parallel=tensor, sequence_parallel=True, selective=True)["bytes_per_rank"]
    alone = law(**args, tensor_parallel=tensor, selective=True)["bytes_per_rank"]
    return Sketch(
        f"{layers} layers of hidden size {hidden} are cut into {stages} pipeline stages; each layer is shared by "
        f"{tensor} ranks with tensor and sequence parallelism. Attention scores are recomputed, so that a layer keeps "
        f"34·s·b·h bytes. How much does a rank keep for one sequence of {seq} tokens in flight?",
        "data",
        held,
        (
            f"A stage has {args['layers']:.0f} layers.",
            f"A layer keeps 34 · {seq} · {hidden} bytes; sequence parallelism divides all of it by {tensor}.",
            f"{args['layers']:.0f} layers of {say(held / args['layers'], 'data')}: {say(held, 'data')}.",
        ),
        (
            slip("step-left-out", held * stages, "A stage holds its own layers alone."),
            slip("other-definition", alone, "That is tensor parallelism alone: 10 of the 34 are then not divided."),
            slip("total-for-per-rank", held * tensor, "That is what the tensor-parallel group keeps together."),
        ),
    )


@template(ACTIVATION_MEMORY, 3)
def sharing_that_fits(pick: Pick, law: Law) -> Sketch:
    layers, hidden = pick.count(32, 48, 80), pick.count(4096, 8192)
    seq = pick.count(4096, 8192, 16384)
    tensor = pick.hide(pick.count(2, 4, 8))
    args = {"batch": 1, "seq": seq, "hidden": hidden, "layers": layers, "heads": hidden / 128}
    shared = law(**args, tensor_parallel=tensor, sequence_parallel=True, selective=True)["bytes_per_rank"]
    budget = pick.told("data", shared * 1.1)
    return Sketch(
        f"A rank may keep {budget} of activations for one sequence of {seq} tokens through {layers} layers of hidden "
        "size "
        f"{hidden}. A layer keeps 34·s·b·h bytes (scores recomputed), and tensor with sequence parallelism divides "
        "them all. Among how many ranks does each layer have to be shared, as a power of two?",
        "count",
        tensor,
        (
            f"Unshared: 34 · {seq} · {hidden} · {layers} = {say(shared * tensor, 'data')}.",
            f"Over {budget}: {shared * tensor / budget:.3g}, so the next power of two, {tensor:.0f}.",
        ),
        (
            slip("step-left-out", tensor / 2, "That rounds down, and then it does not fit."),
            slip("other-definition", tensor * 2, "That fits with half the memory to spare."),
        ),
        exact=True,
    )
