"""DDP's buckets, and what of their time a step cannot hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.numbers import Values, more_than_zero, plain, zero_or_more

MEBIBYTE = 1 << 20
# What torch 2.13 does where no cap is given: 25 MiB, and the bucket that is launched first closes at 1 MiB.
USUAL_CAP_BYTES, USUAL_FIRST_CAP_BYTES = 25 * MEBIBYTE, MEBIBYTE
MOST_LISTED_BUCKETS = 100_000


@dataclass(frozen=True)
class Buckets:
    """The all-reduces of a DDP step in the order of launch: how many, bytes of each, and of the largest."""

    number: int
    sizes_bytes: list[float]
    largest_bytes: float


@dataclass(frozen=True)
class Exposed:
    """Communication that the step waits for, what hides behind compute, and the step, in seconds."""

    exposed_s: Values
    hidden_s: Values
    step_s: Values


def ddp_buckets(sizes_bytes: Sequence[float], cap_bytes: float, first_cap_bytes: float | None = None) -> list[float]:
    """Bytes of each all-reduce of a DDP step, in the order of launch.

    `sizes_bytes` are the gradients in the order in which the model registers its parameters: the backward pass reaches
    them from the last to the first. None is ever split, and a bucket closes once it reaches its cap, so it may be far
    larger. `first_cap_bytes` is the cap of the first bucket; torch 2.13 has one of 1 MiB, and 25 MiB for the others,
    only where no cap is given. The first step of a job runs as one bucket. Not vectorised: one model a call.
    Source: torch.nn.parallel.distributed.
    """
    more_than_zero("cap_bytes", cap_bytes)
    more_than_zero("first_cap_bytes", cap_bytes if first_cap_bytes is None else first_cap_bytes)
    if not len(sizes_bytes):
        raise ValueError("sizes_bytes must hold a size for each parameter, each more than zero")
    more_than_zero("sizes_bytes", sizes_bytes)
    buckets: list[float] = []
    held, cap = 0.0, first_cap_bytes or cap_bytes
    for size in reversed(sizes_bytes):
        held += size
        if held >= cap:
            buckets.append(held)
            held, cap = 0.0, cap_bytes
    return [*buckets, held] if held else buckets


def ddp_buckets_of(
    sizes_bytes: Sequence[float] | None = None,
    params: Sequence[float] | None = None,
    cap_bytes: float | None = None,
    gradient_bytes: float = 4,
) -> Buckets:
    """`ddp_buckets` of what a job states: sizes in bytes, or parameters with gradients of `gradient_bytes` each.

    Several `params` are those of each tensor in the order of registration. A single number is a whole model whose
    tensors are far smaller than a bucket, so that its buckets are all but full; a model of few large tensors has fewer.
    Without a cap it is torch's usual one. Raises ValueError for neither or both, and for a list beyond reason.
    """
    if (sizes_bytes is None) == (params is None):
        raise ValueError("sizes and params: give one of the two, sizes in bytes or params in numbers")
    cap = USUAL_CAP_BYTES if cap_bytes is None else cap_bytes
    first = USUAL_FIRST_CAP_BYTES if cap_bytes is None else cap_bytes
    each = more_than_zero("gradient_bytes", gradient_bytes)
    gradients = [each * number for number in params or ()] if sizes_bytes is None else sizes_bytes
    whole_model = params is not None and len(params) == 1
    buckets = _full(gradients[0], cap, first) if whole_model else ddp_buckets(gradients, cap, first)
    return Buckets(len(buckets), buckets, max(buckets))


def _full(total_bytes: float, cap_bytes: float, first_cap_bytes: float) -> list[float]:
    """Buckets of many small tensors: each closes where it reaches its cap."""
    total, cap = more_than_zero("params", total_bytes), more_than_zero("cap_bytes", cap_bytes)
    if total / cap > MOST_LISTED_BUCKETS:
        raise ValueError(f"params make over {MOST_LISTED_BUCKETS:,} buckets; give fewer, or a larger cap")
    first = min(first_cap_bytes, total)
    whole_buckets, rest = divmod(total - first, cap)
    return [first, *[cap] * int(whole_buckets), *([rest] if rest else [])]


def exposed_communication(compute_s: ArrayLike, communication_s: ArrayLike, overlappable_s: ArrayLike) -> Exposed:
    """communication − min(communication, overlappable); the step is compute and what is exposed.

    `overlappable_s` is the time during which communication may run behind something else.
    """
    compute, communication = more_than_zero("compute_s", compute_s), zero_or_more("communication_s", communication_s)
    hidden = plain(np.minimum(communication, zero_or_more("overlappable_s", overlappable_s)))
    exposed = communication - hidden
    return Exposed(exposed, hidden, compute + exposed)
