"""Floor first, right, and used for a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grader.criteria.base import Case, Mark, clamp, nothing
from grader.knowledge import INCONCLUSIVE, EstimateKnowledge
from grader.transcript import Estimate, Step, TranscriptError, Verdict
from grader.units import QuantityError, format_quantity, parse_quantity

FLOOR, FLOOR_SHARE, VERDICT_SHARE, WORKING_SHARE = "collective-floor", 0.5, 0.3, 0.2
FREE_LOG_ERROR, LOST_LOG_ERROR = math.log(1.1), math.log(2.0)
LATER = 0.5  # a floor after the first measurement is arithmetic that no longer steered anything


@dataclass(frozen=True)
class Judged:
    """One estimate against what is accepted. `error`: ratio to the nearest accepted value."""

    event: int
    given: float
    accepted: float
    accuracy: float
    kind: str


def mark(case: Case) -> Mark:
    """0.5 the floor, halved when after the first step; 0.3 a right verdict that follows it; 0.2 the working beside it
    (bytes on the wire or fraction of the floor). Accuracy: free to 10 %, nothing left at a factor of two."""
    judged = [j for j in _first_of_each(case) if j is not None]
    floors = [j for j, quantity in judged if quantity == FLOOR]
    if not floors:
        return nothing("No floor was estimated, so nothing could tell a fault from physics.")
    first_step = next((i for i, _ in case.timeline.events(Step)), len(case.transcript.events))
    floor = max(floors, key=lambda j: (j.accuracy * _timing(j, first_step), -j.event))
    verdict, verdict_event, said = _verdict(case, min(j.event for j in floors))
    working = [j for j, quantity in judged if quantity != FLOOR]
    shares = [(FLOOR_SHARE, floor.accuracy * _timing(floor, first_step)), (VERDICT_SHARE, verdict)]
    if _can_show_working(case):
        shares.append((WORKING_SHARE, max((j.accuracy for j in working), default=0.0)))
    score = sum(share * part for share, part in shares) / sum(share for share, _ in shares)
    events = sorted({floor.event, *(j.event for j in working), *([verdict_event] if verdict_event is not None else [])})
    return Mark(clamp(score), f"{_floor_words(floor, first_step)} {said}", tuple(events))


def _first_of_each(case: Case) -> list[tuple[Judged, str] | None]:
    seen: set[tuple[str, str]] = set()
    found: list[tuple[Judged, str] | None] = []
    for number, estimate in case.timeline.events(Estimate):
        key = (estimate.quantity, estimate.scale)
        if key not in seen:
            seen.add(key)
            judged = _judge(case, number, estimate)
            found.append((judged, estimate.quantity) if judged else None)
    return found


def _judge(case: Case, number: int, estimate: Estimate) -> Judged | None:
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
    error = abs(math.log(given / nearest))
    accuracy = clamp(1 - (error - FREE_LOG_ERROR) / (LOST_LOG_ERROR - FREE_LOG_ERROR))
    return Judged(number, given, nearest, accuracy, known.kind)


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


def _timing(floor: Judged, first_step: int) -> float:
    return 1.0 if floor.event < first_step else LATER


def _can_show_working(case: Case) -> bool:
    truths = case.transcript.truths
    return any(
        known.accepted or known.quantity in truths or f"{known.quantity}:{known.scale}" in truths
        for known in case.index.knowledge.estimates
        if known.quantity != FLOOR
    )


def _verdict(case: Case, floor_event: int) -> tuple[float, int | None, str]:
    """Share earned, the event, and what to say. The first verdict after the floor counts."""
    made = case.timeline.events(Verdict)
    after = next(((i, v) for i, v in made if i > floor_event), None)
    if after is None:
        said = "The verdict came before it" if made else "No verdict was drawn from it"
        return 0.0, made[0][0] if made else None, f"{said}, so the arithmetic decided nothing."
    number, verdict = after
    said, right = f"You said {verdict.collective.replace('-', ' ')}", _right_verdict(case)
    if right is None:
        return 1.0, number, f"{said}; the measured collective lies between, so either may be said."
    if verdict.collective == right:
        return 1.0, number, f"{said}, as the measured collective was."
    return 0.0, number, f"{said}, but the measured collective was {right.replace('-', ' ')}."


def _right_verdict(case: Case) -> str | None:
    """By the measured fraction of the floor, else by the symptom's finding. None: either may be said."""
    if case.timeline.symptom == INCONCLUSIVE:
        return None
    fractions = [v for name, v in case.transcript.truths.items() if name.split(":")[0] == "fraction-of-floor"]
    if fractions:
        return "at-floor" if fractions[0] >= case.index.knowledge.at_floor_from else "below-floor"
    symptom = case.timeline.symptom or ""
    return next((side for side in ("at-floor", "below-floor") if symptom.endswith(side)), None)


def _floor_words(floor: Judged, first_step: int) -> str:
    when = "before any measurement" if floor.event < first_step else "only after the first measurement"
    given = format_quantity(floor.given, "time")
    if floor.accuracy >= 1:
        off = abs(floor.given / floor.accepted - 1)
        return f"{given} {when}, right to {max(1, round(off * 100))} %."
    return f"{given} {when}, but the floor is {format_quantity(floor.accepted, 'time')}."
