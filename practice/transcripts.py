"""An attempt as a transcript: what the grader reads. It holds the hidden cause, so it is for after the close."""

from __future__ import annotations

from typing import Any

from practice import draws
from practice.models import Attempt
from scenarios import instances


def transcript_of(attempt: Attempt) -> dict[str, Any]:
    """`{scenario, revision, calibration, causes, places, truths, symptom, events}`, ready for JSON."""
    instance = draws.instance_of(attempt)
    return {
        "scenario": attempt.scenario,
        "revision": attempt.revision,
        "calibration": attempt.calibration,
        "causes": [instance.cause],
        "places": {instance.cause: instances.accepted_places(instance)},
        "truths": {"fraction-of-floor": attempt.draw.fraction_of_floor},
        "symptom": attempt.draw.symptom_finding,
        "events": [event.as_transcript() for event in attempt.events.all()],
    }
