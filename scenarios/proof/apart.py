"""Whether every two causes can be told apart by steps that the time budget pays for (docs/decisions/0040)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from grader.index import Index
from scenarios.proof.base import Line, Subject, verdict

LARGEST_ERROR = 0.05  # of naming the wrong one of two: the best search wants 0.95 as well
MOST_STEPS = 4
NAMED = 12


@dataclass(frozen=True)
class Apart:
    """Two causes, the steps that tell them apart, and the chance of naming the wrong one after them."""

    first: str
    second: str
    steps: tuple[str, ...]
    error: float

    @property
    def told(self) -> bool:
        return self.error <= LARGEST_ERROR

    @property
    def bits(self) -> float:
        """Odds of naming the right one, in bits."""
        return math.log2((1 - self.error) / max(self.error, 1e-9))

    def __str__(self) -> str:
        by = ", ".join(self.steps) or "no step that the budget pays for"
        return f"{self.first} and {self.second}, {self.error:.1%} error ({self.bits:.1f} bits) by {by}"


def told_apart(subject: Subject) -> Line:
    """The pair of causes that is hardest to tell apart, and every pair that cannot be."""
    found = every_pair(subject)
    hardest = found[0]
    details = tuple(str(pair) for pair in found[:NAMED] if not pair.told)
    claim = f"every two causes can be told apart within the budget, with at most {LARGEST_ERROR:.0%} error"
    figure = f"{sum(pair.told for pair in found)} of {len(found)} pairs; hardest {hardest}"
    return Line("told-apart", claim, figure, verdict(hardest.told), details)


def every_pair(subject: Subject) -> list[Apart]:
    """Every pair of causes, the hardest to tell apart first."""
    index, budget = subject.index, subject.scenario.time_budget_min
    pairs = itertools.combinations(range(len(index.causes)), 2)
    found = [tell(index, first, second, budget) for first, second in pairs]
    return sorted(found, key=lambda pair: (-pair.error, pair.first, pair.second))


def tell(index: Index, first: int, second: int, budget_min: float) -> Apart:
    """Greedily the affordable step that leaves least error, until little is left or nothing helps.

    Of the measured readings of one run one is used, since their noise is shared; configuration reads all may be.
    """
    seen, error, left = np.ones((1, 2)), 0.5, budget_min
    taken: list[int] = []
    while error > LARGEST_ERROR and len(taken) < MOST_STEPS:
        open_ = [row for row in range(len(index.minutes)) if index.minutes[row] <= left and is_new(index, taken, row)]
        tried = {row: with_reading(seen, index.p[row, [first, second], :]) for row in open_}
        best = min(tried, key=lambda row: (round(error_of(tried[row]), 9), index.minutes[row]), default=None)
        if best is None or error_of(tried[best]) >= error - 1e-6:
            break
        seen, error, left = tried[best], error_of(tried[best]), left - float(index.minutes[best])
        taken.append(best)
    names = tuple((*index.variants, "the symptom")[row] for row in taken)
    return Apart(index.causes[first], index.causes[second], names, error)


def is_new(index: Index, taken: list[int], row: int) -> bool:
    """Whether the step may be used beside those taken: it is none of them, and reads another run or a configuration."""
    if row in taken or index.configuration[row]:
        return row not in taken
    return all(index.configuration[one] or index.experiment[one] != index.experiment[row] for one in taken)


def with_reading(seen: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(outcomes, 2): chances under either cause of what was seen so far together with each finding of one more step."""
    together = seen[:, None, :] * p.T[None, :, :]
    return together.reshape(-1, 2)


def error_of(seen: np.ndarray) -> float:
    """The chance of naming the wrong one of two equally likely causes, by the likelier one at each outcome."""
    return float(seen.min(axis=1).sum() / 2)
