"""Arithmetic of a dense transformer."""

from __future__ import annotations

from grader import physics
from grader.physics.transformers import RECOMPUTE
from grader.quantities.base import Argument, Quantity, Result

NARAYANAN = "Narayanan et al. 2021 (Megatron-LM on GPU clusters)"
PARAMS = Argument("params", "count", "parameters, for example 70B")
GPUS = Argument("gpus", "count", "how many")
LAYERS = Argument("layers", "count", "transformer layers")
HIDDEN = Argument("hidden", "count", "hidden size")
VOCAB = Argument("vocab", "count", "size of the vocabulary")
SEQ = Argument("seq", "count", "sequence length in tokens")

TRANSFORMER_PARAMS = Quantity(
    id="transformer-params",
    title="Parameters of a dense transformer",
    formula="12lh²(1 + 13/(12h) + (V+s)/(12lh))",
    source=NARAYANAN,
    compute=physics.transformer_params,
    arguments=(LAYERS, HIDDEN, VOCAB, SEQ),
    results=(Result("parameters", "count", "position embeddings included"),),
    example="layers=96 hidden=12288 vocab=51200 seq=2048",
)

ITERATION_FLOPS = Quantity(
    id="iteration-flops",
    title="Operations of one training step, every activation recomputed",
    formula="96Bslh²(1 + s/(6h) + V/(16lh))",
    source=NARAYANAN,
    compute=physics.iteration_flops,
    arguments=(Argument("batch", "count", "sequences of the whole job a step"), SEQ, LAYERS, HIDDEN, VOCAB),
    results=(Result("flops", "compute", "of all GPUs, recomputation included"),),
    example="batch=1536 seq=2048 layers=96 hidden=12288 vocab=51200",
    note="About three quarters of it is model FLOP: recomputation runs the forward pass once more.",
)

TRAINING_DAYS = Quantity(
    id="training-days",
    title="Days that a training run takes",
    formula="8TP/(nX) with full recomputation, 6TP/(nX) with none",
    source=NARAYANAN,
    compute=physics.training_days,
    arguments=(
        PARAMS,
        Argument("tokens", "count", "of the whole training, for example 300B"),
        GPUS,
        Argument("achieved", "compute-rate", "X: what each GPU achieves, not its peak"),
        Argument("recompute", "choice", "of activations", choices=RECOMPUTE),
    ),
    results=(Result("days", "days", "without failures and restarts"),),
    example="params=175B tokens=300B gpus=1024 achieved=140TFLOP/s",
)

MFU = Quantity(
    id="mfu",
    title="Model-FLOP utilisation",
    formula="(6N + 12·l·h·s) · tokens_per_s / (gpus · peak); without layers, hidden and seq attention is left out",
    source="PaLM (Chowdhery et al. 2022), appendix B",
    compute=physics.mfu,
    arguments=(
        PARAMS,
        Argument("tokens_per_s", "count", "of the whole job"),
        GPUS,
        Argument("peak", "compute-rate", "of one GPU in the precision used"),
        LAYERS,
        Argument("hidden", "count", "heads times the size of a head"),
        SEQ,
    ),
    results=(Result("mfu", "ratio", "of the peak does the model's own arithmetic use"),),
    example="params=540B tokens_per_s=238.3k gpus=6144 peak=275TFLOP/s layers=118 hidden=12288 seq=2048",
    note="Recomputed activations never count: that would be hardware-FLOP utilisation.",
)
