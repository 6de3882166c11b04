"""How far stated probabilities are borne out: a reliability curve and the expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from grader.index import Index, index_of
from grader.inference import no_evidence
from grader.knowledge import Knowledge
from grader.transcript import variant_id
from tests.grader import simulated

BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0 + 1e-9)
MOST_STEPS = 4


@dataclass(frozen=True)
class Bin:
    """Beliefs between `low` and `high`: how many, what was told on average, and how often it was so."""

    low: float
    high: float
    count: int
    told: float
    true: float


def curve(told: np.ndarray, true: np.ndarray) -> list[Bin]:
    """Bins that hold something. `told`, `true`: (beliefs,)."""
    found = []
    for low, high in pairwise(BINS):
        inside = (told >= low) & (told < high)
        if inside.any():
            found.append(Bin(low, high, int(inside.sum()), float(told[inside].mean()), float(true[inside].mean())))
    return found


def expected_calibration_error(bins: list[Bin]) -> float:
    """Mean gap between told and true, weighed by how many beliefs each bin holds."""
    return sum(b.count * abs(b.told - b.true) for b in bins) / sum(b.count for b in bins)


def beliefs(knowledge: Knowledge, *, attempts: int, seed: int, slower: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """(told, true) over all causes of attempts whose runs are simulated anew, on a machine that reads `slower` times as
    much: not drawn from the table, so that the table's own errors show."""
    index, draw = index_of(knowledge), np.random.default_rng(seed)
    told, true = [], []
    for _ in range(attempts):
        cause = str(draw.choice(index.causes))
        told.append(posterior(index, cause, draw, slower))
        true.append(np.array(index.causes) == cause)
    return np.concatenate(told), np.concatenate(true)


def posterior(index: Index, cause: str, draw: np.random.Generator, slower: float) -> np.ndarray:
    """After the symptom and up to four steps of one simulated incident."""
    shown = findings(cause, draw, slower)
    belief = no_evidence(index).after(index.symptom_row, shown["symptom"])
    count = int(draw.integers(0, MOST_STEPS + 1))
    for row in draw.choice(len(index.variants), size=count, replace=False):
        belief = belief.after(int(row), shown[index.variants[int(row)]])
    return belief.posterior()[:-1]


def findings(cause: str, draw: np.random.Generator, slower: float) -> dict[str, str]:
    """What every variant shows in one incident. Measured readings are off by the factor; configurations are not."""
    job = simulated.job_run(cause, draw)
    shown = {}
    for step, with_, _, _, _, decisive, classify, _, deterministic in simulated.STEPS:
        readings = job
        if step == "microbenchmark":
            readings = simulated.microbenchmark_run(cause, with_["size"], with_["placement"], draw)
        factor = 1.0 if deterministic else slower
        shown[variant_id(step, with_)] = classify({name: readings[name] * factor for name, _ in decisive})
    return shown
