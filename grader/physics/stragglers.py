"""One slow rank among many, and what more ranks bring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.numbers import Values, at_least, choice, more_than_zero, plain, share, whole

# Below it a rank is called slow (NVIDIA Resiliency Extension's usual threshold).
FLAGGED_BELOW = 0.75
SCALINGS = ("strong", "weak")


@dataclass(frozen=True)
class StragglerCost:
    """Step time over that of a job without a slow rank, and the chance that a step meets one."""

    step_ratio: Values
    chance: Values


@dataclass(frozen=True)
class StragglerScore:
    """Reference median over own, and whether that is below the threshold."""

    score: Values
    flagged: Values


@dataclass(frozen=True)
class Efficiency:
    """Of what perfect scaling gives, the share reached; `speedup` is work a second over work a second before."""

    efficiency: Values
    speedup: Values


def straggler_cost(ranks: ArrayLike, slow_factor: ArrayLike, probability: ArrayLike | None = None) -> StragglerCost:
    """The slowest sets the pace: f, or 1 + (f−1)(1−(1−p)ⁿ) where each rank is slow with probability p on its own."""
    n, factor = whole("ranks", ranks), at_least("slow_factor", slow_factor, 1)
    p = share("probability", 1 if probability is None else probability)
    with np.errstate(divide="ignore"):  # log1p(−1) is −inf, and its exponential the 0 that is meant
        chance = plain(-np.expm1(n * np.log1p(-np.asarray(p, dtype=float))))
    return StragglerCost(1 + (factor - 1) * chance, chance)


def straggler_score(own_median_s: ArrayLike, reference_median_s: ArrayLike) -> StragglerScore:
    """reference median / own median of time outside collectives, in which a waiting rank looks as slow as a slow one.

    The reference is the fastest rank's or the median rank's; which one has to be said beside the score.
    """
    own = more_than_zero("own_median_s", own_median_s)
    score = more_than_zero("reference_median_s", reference_median_s) / own
    return StragglerScore(score, plain(np.asarray(score) < FLAGGED_BELOW))


def scaling_efficiency(
    time_1_s: ArrayLike, ranks_1: ArrayLike, time_n_s: ArrayLike, ranks_n: ArrayLike, kind: str
) -> Efficiency:
    """strong (the same work in all): t₁n₁/(tₙnₙ); weak (the same work a rank): t₁/tₙ.

    8 GPUs 2.1 s, 64 GPUs 2.8 s: weak, 75 %.
    """
    choice("kind", kind, SCALINGS)
    sooner = more_than_zero("time_1_s", time_1_s) / more_than_zero("time_n_s", time_n_s)
    growth = whole("ranks_n", ranks_n) / whole("ranks_1", ranks_1)
    return Efficiency(sooner / growth, sooner) if kind == "strong" else Efficiency(sooner, sooner * growth)
