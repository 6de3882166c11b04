"""Knowledge as arrays, made once for each Knowledge object. Pure: the cache only remembers what it would compute again.

Axes: variants (the symptom is the last row), causes (`other` is the last column of P), findings (padded).
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from grader.knowledge import INCONCLUSIVE, OTHER, Knowledge, StepKnowledge
from grader.pricing import SYMPTOM, priced_minutes
from grader.tempering import DEFAULT_TEMPERING
from grader.transcript import variant_id

OTHER_MASS = 0.02
SMALLEST_P = 1e-6
ENTAILED_AT = 0.10
STRAGGLER_FAMILIES = ("host", "input")
FABRIC_FAMILIES = ("fabric",)


@dataclass(frozen=True, eq=False)
class Index:
    """Arrays over one Knowledge.

    `priors` (2, causes + other): declared, uniform. `p`, `log_p` (variants + 1, causes + other, findings).
    `excluded` (variants + 1, findings, causes): the finding entails that the cause is out.
    """

    knowledge: Knowledge
    causes: tuple[str, ...]
    families: tuple[str, ...]
    variants: tuple[str, ...]
    steps: tuple[StepKnowledge, ...]
    priors: np.ndarray
    p: np.ndarray
    log_p: np.ndarray
    excluded: np.ndarray
    configuration: np.ndarray
    experiment: np.ndarray
    rho: np.ndarray
    minutes: np.ndarray
    row_of: dict[str, int]
    finding_of: tuple[dict[str, int], ...]
    policy_cache: dict[tuple[object, ...], Any] = field(default_factory=dict)

    @property
    def symptom_row(self) -> int:
        return len(self.variants)

    def cause_row(self, cause: str) -> int | None:
        return self.causes.index(cause) if cause in self.causes else None

    def most_likely(self, row: int, cause: str) -> str:
        """The most likely finding of a variant under a cause (or `healthy`)."""
        cell = self.steps[row].cells.get(cause)
        findings = self.steps[row].findings
        return max(findings, key=lambda f: cell.p.get(f, 0.0)) if cell else findings[0]

    def of_families(self, families: tuple[str, ...]) -> np.ndarray:
        """(causes,) true where the cause is of one of these families."""
        return np.array([family in families for family in self.families])

    @cached_property
    def late_ranks(self) -> np.ndarray:
        """(causes,) true where one rank or host is late: cores and stores that all share keep the ranks alike."""
        causes = self.knowledge.causes
        return np.array([c.family in STRAGGLER_FAMILIES and c.place_kind in ("rank", "host") for c in causes])

    def is_settled(self, finding: str) -> bool:
        return finding != INCONCLUSIVE

    def as_dict(self, posterior: np.ndarray) -> dict[str, float]:
        """A posterior row as {cause: p}, `other` included."""
        return dict(zip((*self.causes, OTHER), (float(p) for p in posterior), strict=True))


_cache: dict[int, tuple[weakref.ref[Knowledge], Index]] = {}


def index_of(knowledge: Knowledge) -> Index:
    """The Index of this Knowledge object, from memory where it was made before."""
    held = _cache.get(id(knowledge))
    if held and held[0]() is knowledge:
        return held[1]
    made = _build(knowledge)
    key = id(knowledge)
    _cache[key] = (weakref.ref(knowledge, lambda _: _cache.pop(key, None)), made)
    return made


def _build(knowledge: Knowledge) -> Index:
    causes = tuple(cause.id for cause in knowledge.causes)
    steps = (*knowledge.steps, knowledge.symptom)
    p, upper = _tensors(steps, causes)
    experiments = sorted({step.experiment for step in steps})
    prior = np.array([max(cause.prior, 0.0) for cause in knowledge.causes])
    prior = prior / prior.sum() if prior.sum() > 0 else np.full(len(causes), 1 / len(causes))
    uniform = np.full(len(causes), 1 / len(causes))
    variants = tuple(variant_id(step.step, step.with_) for step in knowledge.steps)
    return Index(
        knowledge=knowledge.model_copy(),  # a copy, or the cache would keep its own key alive
        causes=causes,
        families=tuple(cause.family for cause in knowledge.causes),
        variants=variants,
        steps=steps,
        priors=np.array([np.append(row * (1 - OTHER_MASS), OTHER_MASS) for row in (prior, uniform)]),
        p=p,
        log_p=np.log(np.maximum(p, SMALLEST_P)),
        excluded=_excluded(steps, upper),
        configuration=np.array([any(c.basis == "deterministic" for c in s.cells.values()) for s in steps]),
        experiment=np.array([experiments.index(step.experiment) for step in steps]),
        rho=np.array([knowledge.tempering.get(name, DEFAULT_TEMPERING) for name in experiments]),
        minutes=np.array([priced_minutes(step, knowledge.stop_weight) for step in steps]),
        row_of={**{name: row for row, name in enumerate(variants)}, SYMPTOM: len(variants)},
        finding_of=tuple({finding: i for i, finding in enumerate(step.findings)} for step in steps),
    )


def _excluded(steps: tuple[StepKnowledge, ...], upper: np.ndarray) -> np.ndarray:
    """(steps, findings, causes): upper bound at most 0.10.

    An inconclusive reading excludes nothing: it is where the probe says that it cannot tell. A finding that would
    exclude every cause is a surprise, which no table describes, and excludes none either.
    """
    excluded = np.swapaxes(upper <= ENTAILED_AT, 1, 2)
    for row, step in enumerate(steps):
        if INCONCLUSIVE in step.findings:
            excluded[row, step.findings.index(INCONCLUSIVE)] = False
    excluded[excluded.all(axis=2)] = False
    return excluded


def _tensors(steps: tuple[StepKnowledge, ...], causes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """P (steps, causes + other, findings), zero where padded, and its upper bound (steps, causes, findings)."""
    width = max(len(step.findings) for step in steps)
    p = np.zeros((len(steps), len(causes) + 1, width))
    upper = np.ones((len(steps), len(causes), width))
    for row, step in enumerate(steps):
        uniform = np.full(len(step.findings), 1 / len(step.findings))
        for column, cause in enumerate(causes):
            cell = step.cells.get(cause)
            # A cause that was never calibrated under this probe: the probe says nothing about it.
            own = np.array([cell.p.get(f, 0.0) for f in step.findings]) if cell else uniform
            p[row, column, : len(step.findings)] = np.maximum(own, SMALLEST_P) / np.maximum(own, SMALLEST_P).sum()
            if cell:
                upper[row, column, : len(step.findings)] = [cell.upper.get(f, 1.0) for f in step.findings]
        # A surprise behaves like any of the causes, or like nothing known.
        known = p[row, : len(causes), : len(step.findings)].mean(axis=0)
        p[row, -1, : len(step.findings)] = (known + uniform) / 2
    return p, upper
