"""Which cores a rank's computing thread may use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

Binding = Literal["in-turn", "one-core", "none"]


def cores_of(rank: int, binding: Binding, cores: Sequence[int]) -> set[int]:
    """`in-turn`: a core in turn, as launchers of real jobs bind ranks. `one-core`: the first, whoever the rank is, as
    where every host was given the same mask. `none`: all of them.
    """
    if binding == "none":
        return set(cores)
    return {cores[0] if binding == "one-core" else cores[rank % len(cores)]}


def bind(rank: int, binding: Binding) -> None:
    """Binds the calling thread, and it alone: threads that are there already keep their cores, new ones inherit.

    Left to the scheduler, ranks that share cores drift apart by a tenth, and a healthy rank looks slow.
    """
    if binding != "none":
        os.sched_setaffinity(0, cores_of(rank, binding, sorted(os.sched_getaffinity(0))))
