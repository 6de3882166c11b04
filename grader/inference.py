"""What the evidence in hand says: posterior over causes, entailed eliminations, worth of each possible next step.

Several readings of one run are tempered (see grader.tempering); readings of different experiments are multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grader.index import Index

DECLARED = 0  # the row of the declared prior; the other is uniform
LEAST_MINUTES = 0.5
AS_GOOD = 0.95


@dataclass(frozen=True, eq=False)
class Belief:
    """Evidence in hand as sums. `least` and `total` (experiments, causes + other): the rarest and the summed log
    likelihood of the measured readings of each experiment, 0 before the first; `certain` (causes + other):
    configuration reads."""

    index: Index
    certain: np.ndarray
    least: np.ndarray
    total: np.ndarray
    out: np.ndarray
    settled: frozenset[int]

    def log_likelihood(self) -> np.ndarray:
        rho = self.index.rho[:, None]
        return np.asarray(self.certain + ((1 - rho) * self.least + rho * self.total).sum(axis=0))

    def posteriors(self) -> np.ndarray:
        """(2, causes + other): under the declared and under a uniform prior."""
        log = self.log_likelihood()
        weights = self.index.priors * np.exp(log - log.max())
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def posterior(self) -> np.ndarray:
        """(causes + other,) under the declared prior."""
        return np.asarray(self.posteriors()[DECLARED])

    def entailed(self) -> tuple[str, ...]:
        """Causes that some reading in hand excludes: the upper 95 % bound of P(finding | cause) is at most 0.10."""
        return tuple(cause for cause, out in zip(self.index.causes, self.out, strict=True) if out)

    def after(self, row: int, finding: str) -> Belief:
        """The belief once variant `row` gave `finding`. A settled variant read again says nothing new."""
        if row in self.settled:
            return self
        column = self.index.finding_of[row][finding]
        log = self.index.log_p[row, :, column]
        out = self.out | self.index.excluded[row, column]
        settled = self.settled | {row} if self.index.is_settled(finding) else self.settled
        if self.index.configuration[row]:
            return replace(self, certain=self.certain + log, out=out, settled=settled)
        experiment = self.index.experiment[row]
        least, total = self.least.copy(), self.total.copy()
        least[experiment] = np.minimum(least[experiment], log)
        total[experiment] += log
        return replace(self, least=least, total=total, out=out, settled=settled)


def no_evidence(index: Index) -> Belief:
    """Before even the symptom."""
    experiments, causes = len(index.rho), len(index.causes)
    zero = np.zeros((experiments, causes + 1))
    return Belief(index, np.zeros(causes + 1), zero, zero, np.zeros(causes, bool), frozenset())


def expected_gains(belief: Belief) -> np.ndarray:
    """Expected bits about the causes still alive from each variant: (variants,), the kinder of the two priors.

    Alive: not excluded by evidence in hand. A variant that already gave a settled finding is worth nothing.
    """
    index = belief.index
    alive = np.flatnonzero(~belief.out)
    count = len(index.variants)
    if len(alive) < 2:
        return np.zeros(count)
    post = belief.posteriors()[:, alive]
    post = post / post.sum(axis=1, keepdims=True)
    shift = np.exp(_shifts(belief, alive))  # (variants, alive, findings)
    chance = np.einsum("qc,scf->qsf", post, index.p[:count, alive, :])
    joint = post[:, None, :, None] * shift[None]
    mass = joint.sum(axis=2, keepdims=True)
    share = joint / np.maximum(mass, 1e-300)
    left = -(share * np.log2(np.maximum(share, 1e-300))).sum(axis=2)
    now = -(post * np.log2(np.maximum(post, 1e-300))).sum(axis=1)
    gains = np.maximum(now[:, None] - (chance * left).sum(axis=2), 0.0).max(axis=0)
    gains[list(belief.settled - {index.symptom_row})] = 0.0
    return np.asarray(gains)


def best_step(belief: Belief, gains: np.ndarray | None = None) -> tuple[int, float]:
    """(row, expected bits) of the variant worth most a priced minute.

    Of those about as good (within 5 %) the first with a role in the narrowing sequence: a microbenchmark as the job
    runs and a packed one may split the causes equally well, and only one of them is what the sequence asks for.
    """
    gains = expected_gains(belief) if gains is None else gains
    worth = gains / np.maximum(belief.index.minutes[:-1], LEAST_MINUTES)
    as_good = np.flatnonzero(worth >= AS_GOOD * worth.max())
    row = int(next((r for r in as_good if belief.index.steps[r].tells), as_good[0]))
    return row, float(gains[row])


def _shifts(belief: Belief, alive: np.ndarray) -> np.ndarray:
    """Change of the tempered log likelihood if each variant gave each finding: (variants, alive, findings)."""
    index, count = belief.index, len(belief.index.variants)
    log = index.log_p[:count, alive, :]
    experiment = index.experiment[:count]
    least = belief.least[experiment][:, alive][:, :, None]
    rho = index.rho[experiment][:, None, None]
    tempered = (1 - rho) * (np.minimum(least, log) - least) + rho * log
    return np.where(index.configuration[:count, None, None], log, tempered)
