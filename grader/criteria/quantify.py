"""Floor first, right, and used for a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import Field

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, clamp, nothing
from grader.knowledge import INCONCLUSIVE, EstimateKnowledge
from grader.transcript import Estimate, Fix, Step, TranscriptError, Verdict
from grader.units import QuantityError, format_quantity, parse_quantity

FLOOR = "collective-floor"
SIDES = ("at-floor", "below-floor")


class QuantifyWords(Words):
    never: str = "No floor was estimated, so nothing could tell a fault from physics."
    right: str = "{given} {when}, right to {off} %."
    wrong: str = "{given} {when}, but the floor is {accepted}."
    first: str = "before any measurement"
    late: str = "only after the first move"
    last: str = "only once everything had been measured, where it could steer nothing"
    no_verdict: str = "No verdict was drawn from it, so the arithmetic decided nothing."
    early_verdict: str = "The verdict came before it, so the arithmetic decided nothing."
    either: str = "You said {said}; the measured collective lies between, so either may be said."
    agrees: str = "You said {said}, as the measured collective was."
    differs: str = "You said {said}, but the measured collective was {right}."


class QuantifySettings(Settings):
    """`later`: what is left of it once a first move was made; of that, the share of the evidence still to come, for
    arithmetic steers only what follows it."""

    title: str = "Floor first"
    floor: Share = 0.5
    verdict: Share = 0.3
    working: Share = 0.2
    free_factor: float = Field(default=1.1, ge=1, le=10, description="off by no more: full marks")
    lost_factor: float = Field(default=2.0, gt=1, le=100, description="off by as much: none")
    later: Share = 0.5
    words: QuantifyWords = QuantifyWords()


@dataclass(frozen=True)
class Judged:
    """One estimate against what is accepted. `error`: ratio to the nearest accepted value."""

    event: int
    given: float
    accepted: float
    accuracy: float


def mark(case: Case) -> Mark:
    """0.5 the floor; 0.3 a right verdict that follows it; 0.2 the working beside it (bytes or fraction of the floor).

    Accuracy: free to 10 %, nothing left at a factor of two. All of it fades with what was done before the floor.
    """
    its = case.its(QuantifySettings)
    judged = [j for j in _first_of_each(case) if j is not None]
    floors = [j for j, quantity in judged if quantity == FLOOR]
    if not floors:
        return nothing(its.words.never)
    floor = max(floors, key=lambda j: (j.accuracy * _timing(case, j.event), -j.event))
    verdict, verdict_event, said = _verdict(case, min(j.event for j in floors))
    working = [j for j, quantity in judged if quantity != FLOOR]
    shares = [(its.floor, floor.accuracy), (its.verdict, verdict)]
    if _can_show_working(case):
        shares.append((its.working, max((j.accuracy for j in working), default=0.0)))
    timing = _timing(case, floor.event)
    score = timing * sum(share * part for share, part in shares) / max(sum(share for share, _ in shares), 1e-9)
    events = sorted({floor.event, *(j.event for j in working), *([verdict_event] if verdict_event is not None else [])})
    return Mark(clamp(score), f"{_floor_words(case, floor, timing)} {said}", tuple(events))


def _timing(case: Case, floor_event: int) -> float:
    """1 before any step or fix; after one, `later` times the share of the evidence that it could still steer."""
    moves = (*case.timeline.events(Step), *case.timeline.events(Fix))
    if all(number > floor_event for number, _ in moves):
        return 1.0
    evidence = case.timeline.evidence()
    ahead = sum(t.event > floor_event for t in evidence)
    return case.its(QuantifySettings).later * ahead / max(len(evidence), 1)


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
    return Judged(number, given, nearest, _accuracy(case, given, nearest))


def _accuracy(case: Case, given: float, accepted: float) -> float:
    """By the log of the ratio: 1 within `free_factor`, 0 from `lost_factor` on."""
    its = case.its(QuantifySettings)
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


def _can_show_working(case: Case) -> bool:
    truths = case.transcript.truths
    return any(
        known.accepted or known.quantity in truths or f"{known.quantity}:{known.scale}" in truths
        for known in case.index.knowledge.estimates
        if known.quantity != FLOOR
    )


def _verdict(case: Case, floor_event: int) -> tuple[float, int | None, str]:
    """Share earned, the event, and what to say. The first verdict after the floor counts."""
    words = case.its(QuantifySettings).words
    made = case.timeline.events(Verdict)
    after = next(((i, v) for i, v in made if i > floor_event), None)
    if after is None:
        return 0.0, made[0][0] if made else None, words.early_verdict if made else words.no_verdict
    number, verdict = after
    said, right = verdict.collective.replace("-", " "), _right_verdict(case)
    if right is None:
        return 1.0, number, words.either.format(said=said)
    if verdict.collective == right:
        return 1.0, number, words.agrees.format(said=said)
    return 0.0, number, words.differs.format(said=said, right=right.replace("-", " "))


def _right_verdict(case: Case) -> str | None:
    """By the measured fraction of the floor, else by the symptom's finding. None: either may be said.

    A symptom that is about something else leaves nothing open here, however little it tells of that.
    """
    if case.timeline.symptom == INCONCLUSIVE and _symptom_is_about_the_floor(case):
        return None
    fractions = [v for name, v in case.transcript.truths.items() if name.split(":")[0] == "fraction-of-floor"]
    if fractions:
        return "at-floor" if fractions[0] >= case.index.knowledge.at_floor_from else "below-floor"
    symptom = case.timeline.symptom or ""
    return next((side for side in SIDES if symptom.endswith(side)), None)


def _symptom_is_about_the_floor(case: Case) -> bool:
    return any(finding.endswith(SIDES) for finding in case.index.finding_of[case.index.symptom_row])


def _floor_words(case: Case, floor: Judged, timing: float) -> str:
    words = case.its(QuantifySettings).words
    when = words.first if timing == 1 else words.late if timing else words.last
    given = format_quantity(floor.given, "time")
    if floor.accuracy >= 1:
        off = max(1, round(abs(floor.given / floor.accepted - 1) * 100))
        return words.right.format(given=given, when=when, off=off)
    return words.wrong.format(given=given, when=when, accepted=format_quantity(floor.accepted, "time"))


CRITERION = Criterion(
    "quantify",
    QuantifySettings,
    mark,
    "Computes the floor before opening a tool, says at or below it, and holds every later number against it.",
)
