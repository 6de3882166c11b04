"""Arithmetic of a dense transformer: parameters, operations, days, and how much of the peak is used."""

from __future__ import annotations

from numpy.typing import ArrayLike

from grader.physics.numbers import Values, choice, more_than_zero, whole

SECONDS_A_DAY = 86_400
# FLOP a parameter and token: 2 forward, 4 backward, 2 more where the forward pass is run again.
FLOP_PER_PARAMETER = {"full": 8, "none": 6}
RECOMPUTE = tuple(FLOP_PER_PARAMETER)


def transformer_params(layers: ArrayLike, hidden: ArrayLike, vocab: ArrayLike, seq: ArrayLike) -> Values:
    """Parameters, 12lh²(1 + 13/(12h) + (V+s)/(12lh)), position embeddings included (Narayanan et al. 2021)."""
    depth, h = whole("layers", layers), whole("hidden", hidden)
    v, s = whole("vocab", vocab), whole("seq", seq)
    return 12 * depth * h**2 * (1 + 13 / (12 * h) + (v + s) / (12 * depth * h))


def iteration_flops(batch: ArrayLike, seq: ArrayLike, layers: ArrayLike, hidden: ArrayLike, vocab: ArrayLike) -> Values:
    """FLOP of one step with every activation recomputed, 96Bslh²(1 + s/(6h) + V/(16lh)) (Narayanan et al. 2021).

    `batch` counts sequences of the whole job.
    """
    b, s = whole("batch", batch), whole("seq", seq)
    depth, h, v = whole("layers", layers), whole("hidden", hidden), whole("vocab", vocab)
    return 96 * b * s * depth * h**2 * (1 + s / (6 * h) + v / (16 * depth * h))


def training_days(
    params: ArrayLike, tokens: ArrayLike, gpus: ArrayLike, achieved_flop_per_s: ArrayLike, recompute: str = "full"
) -> Values:
    """Days of 8TP/(nX) with full recomputation, 6TP/(nX) with none (Narayanan et al. 2021). X is a GPU's."""
    choice("recompute", recompute, RECOMPUTE)
    p, t = more_than_zero("params", params), more_than_zero("tokens", tokens)
    n, x = whole("gpus", gpus), more_than_zero("achieved_flop_per_s", achieved_flop_per_s)
    return FLOP_PER_PARAMETER[recompute] * t * p / (n * x) / SECONDS_A_DAY


def mfu(
    params: ArrayLike,
    tokens_per_s: ArrayLike,
    gpus: ArrayLike,
    peak_flop_per_s: ArrayLike,
    layers: ArrayLike | None = None,
    hidden: ArrayLike | None = None,
    seq: ArrayLike | None = None,
) -> Values:
    """Model-FLOP utilisation, (6N + 12·l·h·s)·tokens/s / (gpus·peak) (PaLM, appendix B). Recomputation never counts.

    `hidden` is heads times the size of a head. `layers`, `hidden` and `seq` go together; without them attention is
    left out, which costs a large model about one per cent.
    """
    per_token = 6 * more_than_zero("params", params) + _attention_flop(layers, hidden, seq)
    rate, n = more_than_zero("tokens_per_s", tokens_per_s), whole("gpus", gpus)
    return per_token * rate / (n * more_than_zero("peak_flop_per_s", peak_flop_per_s))


def _attention_flop(layers: ArrayLike | None, hidden: ArrayLike | None, seq: ArrayLike | None) -> Values:
    shape = {"layers": layers, "hidden": hidden, "seq": seq}
    lacking = [name for name, value in shape.items() if value is None]
    if len(lacking) == len(shape):
        return 0
    if lacking:
        raise ValueError(f"layers, hidden and seq go together: give {' and '.join(lacking)} too, or none of the three")
    depth, width, length = (whole(name, value) for name, value in shape.items() if value is not None)
    return 12 * depth * width * length
