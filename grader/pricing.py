"""What a step costs, in priced minutes: its own time, weighed where the job must stop for it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.knowledge import Knowledge, StepKnowledge
from grader.transcript import EventBase, Step, Transcript, Unknown, variant_id

SYMPTOM = "symptom"


def priced_minutes(step: StepKnowledge, stop_weight: float) -> float:
    """Minutes of the step; where the job stops, each counts `stop_weight` minutes (1 by default)."""
    return step.price_min * (stop_weight if step.stops_job else 1)


def spent_minutes(transcript: Transcript, knowledge: Knowledge) -> float:
    """Priced minutes of every step chosen so far. Verifications are free: checking a repair must not be saved on."""
    by_variant = {variant_id(s.step, s.with_): s for s in knowledge.steps}
    return sum(step_minutes(transcript.events, by_variant, knowledge.stop_weight).values())


def step_minutes(
    events: tuple[EventBase | Unknown, ...], by_variant: Mapping[str, StepKnowledge], stop_weight: float
) -> dict[int, float]:
    """Priced minutes by index of each step event.

    Passive reads opened together share their time: one that was asked for before the last passive read was shown
    costs only what it takes longer than the longest of them.
    """
    minutes: dict[int, float] = {}
    shown_at, longest = -1.0, 0.0
    for number, event in enumerate(events):
        if not isinstance(event, Step) or event.step == SYMPTOM:
            continue
        step = by_variant.get(variant_id(event.step, event.with_))
        if step is None:
            continue
        price = priced_minutes(step, stop_weight)
        together = event.opened_at_s is not None and event.opened_at_s < shown_at and not step.stops_job
        minutes[number] = max(0.0, price - longest) if together else price
        if not step.stops_job:
            longest = max(longest, price) if together else price
            shown_at = event.at_s
    return minutes
