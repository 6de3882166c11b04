"""The best search to compare with: greedy, one step ahead, by expected bits a priced minute.

It does not know the cause. Its expected minutes are those it would need when this cause is at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.index import Index
from grader.inference import Belief, best_step, no_evidence

ENOUGH_CERTAINTY = 0.95
WORTHLESS_BITS = 0.005
LONGEST = 12
RAREST_BRANCH = 0.03


@dataclass(frozen=True)
class PathStep:
    """One step of the best path: what it would most likely show, and the certainty after it."""

    step: str
    title: str
    finding: str
    minutes: float
    gain_bits: float
    certainty: float


def expected_minutes(index: Index, symptom: str | None, cause: str, certainty: float) -> float:
    """Expected priced minutes of the greedy policy, under `cause`, until some cause has posterior ≥ `certainty`.

    `certainty` is rounded down to whole per cents (for the memory) and never above 0.95.
    """
    target = int(min(certainty, ENOUGH_CERTAINTY) * 100) / 100
    key = ("minutes", symptom, cause, target)
    if key not in index.policy_cache:
        index.policy_cache[key] = _minutes(_start(index, symptom), index.causes.index(cause), target, 0)
    minutes: float = index.policy_cache[key]
    return minutes


def best_path(index: Index, symptom: str | None, cause: str) -> list[PathStep]:
    """The greedy policy's steps when each shows what it most likely shows under `cause`."""
    key = ("path", symptom, cause)
    if key not in index.policy_cache:
        index.policy_cache[key] = list(_path(index, _start(index, symptom), cause))
    path: list[PathStep] = index.policy_cache[key]
    return path


def _start(index: Index, symptom: str | None) -> Belief:
    belief = no_evidence(index)
    return belief.after(index.symptom_row, symptom) if symptom else belief


def _next(belief: Belief, target: float, depth: int) -> tuple[int, float] | None:
    if depth >= LONGEST or belief.posterior()[:-1].max() >= target:
        return None
    row, bits = best_step(belief)
    return (row, bits) if bits > WORTHLESS_BITS else None


def _minutes(belief: Belief, cause: int, target: float, depth: int) -> float:
    chosen = _next(belief, target, depth)
    if chosen is None:
        return 0.0
    row, index = chosen[0], belief.index
    chances = {f: float(index.p[row, cause, i]) for f, i in index.finding_of[row].items()}
    likely = {f: p for f, p in chances.items() if p >= RAREST_BRANCH}
    rest = sum(p * _minutes(belief.after(row, f), cause, target, depth + 1) for f, p in likely.items())
    return float(index.minutes[row]) + rest / sum(likely.values())


def _path(index: Index, belief: Belief, cause: str) -> Iterator[PathStep]:
    depth = 0
    while (chosen := _next(belief, ENOUGH_CERTAINTY, depth)) is not None:
        row, bits = chosen
        finding = index.most_likely(row, cause)
        belief = belief.after(row, finding)
        depth += 1
        yield PathStep(
            index.variants[row], index.steps[row].title, finding, float(index.minutes[row]), bits,
            float(belief.posterior()[:-1].max()),
        )  # fmt: skip
