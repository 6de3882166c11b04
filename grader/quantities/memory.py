"""What a rank holds."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result
from grader.quantities.transformers import HIDDEN, PARAMS, SEQ

OPTIMIZER_BYTES = Argument(
    "optimizer_bytes",
    "data",
    "a parameter: 12 for an FP32 master copy and Adam's two moments",
    bare_unit="B",
    may_be_zero=True,
)
WEIGHT_BYTES = Argument("weight_bytes", "data", "a parameter: 2 in BF16", bare_unit="B")

ZERO_MEMORY = Quantity(
    id="zero-memory",
    title="Weights, gradients and optimizer state of a rank under ZeRO",
    formula="stage 0: (2+2+K)Ψ; 1: 4Ψ + KΨ/N; 2: 2Ψ + (2+K)Ψ/N; 3: (4+K)Ψ/N",
    source="ZeRO (Rajbhandari et al. 2020)",
    compute=physics.zero_memory,
    arguments=(
        PARAMS,
        Argument("ranks", "count", "data-parallel ranks that share"),
        Argument("stage", "count", "0 shards nothing, 1 the optimizer state, 2 gradients too, 3 all", may_be_zero=True),
        OPTIMIZER_BYTES,
        WEIGHT_BYTES,
        Argument("gradient_bytes", "data", "a parameter: 2 in BF16", bare_unit="B"),
    ),
    results=(Result("bytes_per_rank", "data", "without activations, buffers and fragmentation"),),
    example="params=7.5B ranks=64 stage=2",
)

ACTIVATION_MEMORY = Quantity(
    id="activation-memory",
    title="Activations that a rank keeps for the backward pass",
    formula="sbh·L·(34 + 5as/h); tensor parallel: (10 + 24/t + 5as/(ht)); with sequence parallel: (34 + 5as/h)/t; "
    "selective recomputation leaves 5as/h out",
    source="Korthikanti et al. 2022 (Reducing activation recomputation)",
    compute=physics.activation_memory,
    arguments=(
        Argument("batch", "count", "microbatch, sequences"),
        SEQ,
        HIDDEN,
        Argument("layers", "count", "that the rank holds"),
        Argument("heads", "count", "attention heads of a layer"),
        Argument("tensor_parallel", "count", "ranks that share a layer"),
        Argument("sequence_parallel", "flag", "what lies outside the tensor-parallel region is divided too"),
        Argument("selective", "flag", "attention scores are recomputed, not kept"),
    ),
    results=(
        Result("bytes_per_rank", "data", "of 16-bit activations", "bytes_per_rank"),
        Result("attention_bytes", "data", "of them attention scores", "attention_bytes"),
    ),
    example="batch=1 seq=2048 hidden=12288 layers=96 heads=96 tensor_parallel=8",
    note="A flash-attention kernel keeps no scores either: use selective=yes for it.",
)
