"""Parallel layers with drawn sizes: two that gather and scatter, two that all-reduce, two with an all-to-all."""

from __future__ import annotations

from collections.abc import Callable

from grader.design.tensors import Counts, Layer, Trace
from grader.drills.picking import Pick

# Where rows go, as shares of a rank's rows in sixteenths; each row sums to 16.
ROUTES: dict[int, tuple[Counts, ...]] = {
    2: (((10, 6), (12, 4)), ((3, 13), (7, 9))),
    4: (
        ((8, 4, 2, 2), (6, 4, 4, 2), (9, 3, 3, 1), (5, 5, 4, 2)),
        ((1, 3, 4, 8), (4, 2, 4, 6), (2, 2, 3, 9), (3, 4, 2, 7)),
        ((4, 6, 3, 3), (2, 8, 2, 4), (5, 7, 1, 3), (3, 9, 2, 2)),
    ),
}


def sequence_parallel_mlp(pick: Pick) -> Layer:
    ranks, seq, batch, hidden = pick.of(2, 4), pick.of(256, 512, 1024), pick.of(1, 2, 4), pick.of(256, 512, 1024)
    wide = 4 * hidden
    return Layer(
        "sequence-parallel-mlp",
        "A tensor-parallel MLP with sequence parallelism",
        f"{ranks} tensor-parallel ranks. Sequences of {seq} tokens, {batch} a microbatch, hidden size {hidden}, "
        f"{wide} inside the MLP. Between layers each rank keeps its share of the sequence. Tensors are "
        "[sequence, batch, hidden].",
        ranks,
        (
            Trace("x", "x, a rank's share of the sequence", "given", (), (seq // ranks, batch, hidden)),
            Trace(
                "gathered",
                "x after an all-gather along dimension 0",
                "all-gather",
                ("x",),
                (0,),
                f"The {ranks} shares of {seq // ranks} tokens are joined on every rank.",
            ),
            Trace(
                "inner",
                f"after the first weight, whose {wide} outputs are split over the ranks",
                "linear",
                ("gathered",),
                (wide // ranks,),
                f"Split by columns: a rank computes {wide}/{ranks} of the outputs, for every token.",
            ),
            Trace(
                "partial",
                "after the second weight, whose inputs are split over the ranks: partial sums",
                "linear",
                ("inner",),
                (hidden,),
                f"Split by rows: every rank has all {hidden} outputs, each of them a part of the sum.",
            ),
            Trace(
                "scattered",
                "after a reduce-scatter along dimension 0",
                "reduce-scatter",
                ("partial",),
                (0,),
                f"Summed over the ranks, and each keeps 1/{ranks} of the sequence.",
            ),
        ),
    )


def sharded_linear(pick: Pick) -> Layer:
    ranks, batch = pick.of(2, 4), pick.of(16, 32, 64)
    inputs, outputs = pick.of(256, 512, 1024), pick.of(768, 1536, 2048)
    return Layer(
        "sharded-linear",
        "A linear layer under fully sharded data parallelism",
        f"{ranks} data-parallel ranks, each with {batch} samples of its own. A weight of {outputs} outputs and "
        f"{inputs} inputs, stored as [outputs, inputs], is sharded along dimension 0.",
        ranks,
        (
            Trace("shard", "w, a rank's shard of the weight", "given", (), (outputs // ranks, inputs)),
            Trace("x", "x, a rank's samples", "given", (), (batch, inputs)),
            Trace(
                "weight",
                "w after an all-gather along dimension 0",
                "all-gather",
                ("shard",),
                (0,),
                f"The {ranks} shards of {outputs // ranks} rows make the whole weight, for as long as it is used.",
            ),
            Trace(
                "y",
                "y = x·wᵀ",
                "by-weight",
                ("x", "weight"),
                (),
                "Data parallelism splits samples: a rank computes all outputs of its own.",
            ),
            Trace(
                "gradient",
                "the gradient of w from this rank's samples",
                "weight-gradient",
                ("y", "x"),
                (),
                "A gradient has the shape of the whole weight; samples are summed away.",
            ),
            Trace(
                "kept",
                "the gradient after a reduce-scatter along dimension 0",
                "reduce-scatter",
                ("gradient",),
                (0,),
                f"Summed over the ranks, and each keeps the {outputs // ranks} rows of its own shard.",
            ),
        ),
    )


def tensor_parallel_attention(pick: Pick) -> Layer:
    ranks, seq, batch = pick.of(2, 4), pick.of(128, 256, 512), pick.of(1, 2, 4)
    number, size = pick.of(8, 16), pick.of(32, 64)
    hidden = number * size
    return Layer(
        "tensor-parallel-attention",
        "Tensor-parallel attention",
        f"{ranks} tensor-parallel ranks. {batch} sequences of {seq} tokens, hidden size {hidden}: {number} heads of "
        f"{size}. Heads are split over the ranks; x is whole on each. Tensors are [batch, sequence, …].",
        ranks,
        (
            Trace("x", "x, the same on every rank", "given", (), (batch, seq, hidden)),
            Trace(
                "q",
                "the queries that a rank projects",
                "linear",
                ("x",),
                (hidden // ranks,),
                f"A rank has {number}/{ranks} heads of {size}: {hidden // ranks} outputs.",
            ),
            Trace(
                "headed",
                "these cut into heads: [batch, sequence, heads, size of a head]",
                "heads",
                ("q",),
                (size,),
                f"{number // ranks} heads of {size} on a rank.",
            ),
            Trace(
                "joined",
                "what its heads attended to, joined again as [batch, sequence, …]",
                "merged",
                ("headed",),
                (),
                "Attention leaves a result as wide as its queries.",
            ),
            Trace(
                "partial",
                "after the output projection: partial sums",
                "linear",
                ("joined",),
                (hidden,),
                f"The projection is split by rows: every rank has all {hidden} outputs, each a part of the sum.",
            ),
            Trace(
                "reduced",
                "after an all-reduce",
                "all-reduce",
                ("partial",),
                (),
                "An all-reduce sums and leaves the whole on every rank: the shape stays.",
            ),
        ),
    )


def replicated_linear(pick: Pick) -> Layer:
    ranks, batch = pick.of(2, 4), pick.of(32, 64, 128)
    inputs, outputs = pick.of(512, 1024), pick.of(768, 1536, 3072)
    return Layer(
        "replicated-linear",
        "A linear layer under DDP",
        f"{ranks} data-parallel ranks share a global batch of {batch * ranks} samples. A weight of {outputs} outputs "
        f"and {inputs} inputs, stored as [outputs, inputs], is replicated.",
        ranks,
        (
            Trace("x", "x, a rank's share of the batch", "given", (), (batch, inputs)),
            Trace("w", "w, the same on every rank", "given", (), (outputs, inputs)),
            Trace(
                "y",
                "y = x·wᵀ on a rank",
                "by-weight",
                ("x", "w"),
                (),
                f"{batch} samples of its own, all {outputs} outputs.",
            ),
            Trace(
                "gradient",
                "the gradient of w from this rank's samples",
                "weight-gradient",
                ("y", "x"),
                (),
                "A gradient has the shape of its weight, however many samples went in.",
            ),
            Trace(
                "reduced",
                "the gradient after an all-reduce",
                "all-reduce",
                ("gradient",),
                (),
                "Summed over the ranks and whole on each: the shape stays.",
            ),
        ),
    )


def heads_for_tokens(pick: Pick) -> Layer:
    ranks, seq, batch = pick.of(2, 4), pick.of(256, 512, 1024), pick.of(1, 2)
    number, size = pick.of(8, 12, 16), pick.of(32, 64)
    return Layer(
        "heads-for-tokens",
        "Context-parallel attention by all-to-all",
        f"{ranks} context-parallel ranks. {batch} sequences of {seq} tokens, split along the sequence; {number} heads "
        f"of {size}. Attention needs all tokens of a head. Tensors are [batch, sequence, heads, size of a head].",
        ranks,
        (
            Trace("q", "q, a rank's tokens with all heads", "given", (), (batch, seq // ranks, number, size)),
            Trace(
                "by_heads",
                "q after an all-to-all that cuts heads (dimension 2) and joins tokens (dimension 1)",
                "all-to-all",
                ("q",),
                (2, 1),
                f"A rank gives away all but {number // ranks} heads and gets every token of those.",
            ),
            Trace(
                "back",
                "after the all-to-all back: tokens cut, heads joined",
                "all-to-all",
                ("by_heads",),
                (1, 2),
                "The way back undoes it: a rank's own tokens with all heads.",
            ),
        ),
    )


def expert_dispatch(pick: Pick) -> Layer:
    ranks, each, hidden = pick.of(2, 4), pick.of(8, 16, 32), pick.of(256, 512, 1024)
    counts = tuple(tuple(share * each for share in row) for row in pick.of(*ROUTES[ranks]))
    tokens = 16 * each
    return Layer(
        "expert-dispatch",
        "Tokens sent to experts",
        f"{ranks} expert-parallel ranks, {tokens} tokens on each, hidden size {hidden}; every token goes to one "
        "expert, and nothing is padded or dropped. The table says how many tokens each rank sends to each. Tensors are "
        "[tokens, hidden].",
        ranks,
        (
            Trace("x", "x, a rank's tokens", "given", (), (tokens, hidden)),
            Trace(
                "received",
                "what a rank's experts receive after the all-to-all",
                "dispatch",
                ("x",),
                (),
                "A rank receives its column of the table: the experts that are liked most have most to do.",
                counts,
            ),
            Trace(
                "returned",
                "after the all-to-all back",
                "combine",
                ("received",),
                (),
                "Every token returns to the rank that sent it: the row's sum.",
                counts,
            ),
        ),
    )


Made = Callable[[Pick], Layer]
GATHER_AND_SCATTER: tuple[Made, ...] = (sequence_parallel_mlp, sharded_linear)
ALL_REDUCE: tuple[Made, ...] = (tensor_parallel_attention, replicated_linear)
ALL_TO_ALL: tuple[Made, ...] = (heads_for_tokens, expert_dispatch)
FAMILIES = (GATHER_AND_SCATTER, ALL_REDUCE, ALL_TO_ALL)
