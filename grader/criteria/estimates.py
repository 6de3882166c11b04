"""Estimates held against what is accepted: how right each is and how early it came. For the criteria that want them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import Field

from grader.criteria.base import Case, Settings, Share, clamp
from grader.knowledge import EstimateKnowledge
from grader.transcript import Estimate, Fix, Step, TranscriptError
from grader.units import QuantityError, parse_quantity


class EstimateSettings(Settings):
    """`later`: what is left of it once a first move was made; of that, the share of the evidence still to come, for
    arithmetic steers only what follows it."""

    free_factor: float = Field(default=1.1, ge=1, le=10, description="off by no more: full marks")
    lost_factor: float = Field(default=2.0, gt=1, le=100, description="off by as much: none")
    later: Share = 0.5


@dataclass(frozen=True)
class Judged:
    """One estimate against what is accepted. `accepted`: the nearest value; `accuracy`: 0 to 1."""

    event: int
    known: EstimateKnowledge
    given: float
    accepted: float
    accuracy: float


def first_of_each(case: Case, its: EstimateSettings) -> list[Judged]:
    """The first estimate of each quantity and scale; without those that nothing is accepted for."""
    seen: set[tuple[str, str]] = set()
    found: list[Judged] = []
    for number, estimate in case.timeline.events(Estimate):
        key = (estimate.quantity, estimate.scale)
        if key not in seen:
            seen.add(key)
            judged = _judge(case, its, number, estimate)
            found += [judged] if judged else []
    return found


def can_be_judged(case: Case, known: EstimateKnowledge) -> bool:
    """Whether the scenario or the attempt's own truths say what is right."""
    truths = case.transcript.truths
    return bool(known.accepted) or known.quantity in truths or f"{known.quantity}:{known.scale}" in truths


def timing(case: Case, its: EstimateSettings, event: int) -> float:
    """1 before any step or fix; after one, `later` times the share of the evidence that it could still steer."""
    moves = (*case.timeline.events(Step), *case.timeline.events(Fix))
    if all(number > event for number, _ in moves):
        return 1.0
    evidence = case.timeline.evidence()
    ahead = sum(t.event > event for t in evidence)
    return its.later * ahead / max(len(evidence), 1)


def _judge(case: Case, its: EstimateSettings, number: int, estimate: Estimate) -> Judged | None:
    known = _knowledge_of(case, number, estimate)
    try:
        given = parse_quantity(estimate.value, known.kind)
    except QuantityError as refused:
        raise TranscriptError(
            f"event {number} (estimate): field value: {refused}", event=number, field="value"
        ) from None
    accepted = [a.value for a in known.accepted if not a.assuming or estimate.assuming.strip()]
    truth = _truth(case, estimate)
    accepted = [truth] if truth is not None else accepted
    if not accepted:
        return None
    nearest = min(accepted, key=lambda value: abs(math.log(given / value)))
    return Judged(number, known, given, nearest, _accuracy(its, given, nearest))


def _accuracy(its: EstimateSettings, given: float, accepted: float) -> float:
    """By the log of the ratio: 1 within `free_factor`, 0 from `lost_factor` on."""
    free, lost = math.log(its.free_factor), math.log(max(its.lost_factor, its.free_factor * 1.001))
    return clamp(1 - (abs(math.log(given / accepted)) - free) / (lost - free))


def _knowledge_of(case: Case, number: int, estimate: Estimate) -> EstimateKnowledge:
    offered = case.index.knowledge.estimates
    for known in offered:
        if (known.quantity, known.scale) == (estimate.quantity, estimate.scale):
            return known
    names = ", ".join(f"{known.quantity} ({known.scale})" for known in offered) or "none"
    raise TranscriptError(
        f"event {number} (estimate): field quantity: {estimate.quantity} ({estimate.scale}) is not asked for; "
        f"known are {names}",
        event=number,
        field="quantity",
    )


def _truth(case: Case, estimate: Estimate) -> float | None:
    truths = case.transcript.truths
    return truths.get(f"{estimate.quantity}:{estimate.scale}", truths.get(estimate.quantity))
