"""What is graded against: the simulated incident and every scenario of the library that has a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from grader import bots
from grader.knowledge import Knowledge
from grader.rubric import Rubric
from grader.transcript import variant_id
from scenarios import library, rubrics
from scenarios.knowledge import is_calibrated, knowledge_for
from tests.grader import simulated

SIMULATED = "simulated"
OF_THE_LIBRARY = tuple(f"{one.key}@{one.revision}" for one in library.every() if is_calibrated(one))
EVERY = (SIMULATED, *OF_THE_LIBRARY)


@cache
def knowledge_of(name: str) -> Knowledge:
    return simulated.knowledge() if name == SIMULATED else knowledge_for(library.named(name))


def rubric_of(name: str) -> Rubric:
    """The simulated incident is a search as those about stragglers are."""
    return rubrics.for_track("stragglers" if name == SIMULATED else knowledge_of(name).track)


def causes_of(name: str) -> list[str]:
    return [cause.id for cause in knowledge_of(name).causes]


def played(bot: str, name: str, cause: str, seed: int) -> dict[str, Any]:
    """A bot's attempt that cites readings by variant, so that events may be put in and taken out."""
    found = bots.play(bot, knowledge_of(name), cause, seed)
    return {**found, "events": [_by_variant(event, found["events"]) for event in found["events"]]}


def _by_variant(event: Mapping[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    if "because" not in event:
        return dict(event)
    refs = [
        variant_id(events[ref]["step"], events[ref]["with"]) if isinstance(ref, int) else ref
        for ref in event["because"]
    ]
    return {**event, "because": list(dict.fromkeys(refs))}


def of_kind(made: Mapping[str, Any], kind: str) -> list[int]:
    """Places of the events of a kind."""
    return [number for number, event in enumerate(made["events"]) if event["kind"] == kind]


def with_events(made: Mapping[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    """The same attempt with other events, ten seconds apart."""
    return {**made, "events": [{**event, "at_s": 10.0 * number} for number, event in enumerate(events)]}
