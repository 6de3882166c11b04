"""Opening and closing attempts."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from grader.transcript import TranscriptError
from practice import draws, steps
from practice.errors import ScenarioBroken
from practice.events import append, locked
from practice.models import Attempt, Person, Scorecard
from practice.transcripts import transcript_of
from practice.workbench import tokens
from scenarios import grading
from scenarios.errors import BankIncomplete, ScenarioError
from scenarios.format import Scenario


def open_attempt(person: Person, scenario: Scenario, *, token: str, now: datetime) -> Attempt:
    """A new attempt with its draw; the same token gives the attempt that it opened before.

    Raises ScenarioBroken where no instance can be drawn.
    """
    with transaction.atomic():
        Person.objects.select_for_update().get(pk=person.pk)
        before = person.attempts.filter(token=token).first()
        if before is not None and not before.is_closed:
            return before
        if before is not None:
            token = tokens.fresh()  # a page from the browser's history, from before that attempt was closed
        drawn = draws.draw(scenario, person)
        attempt = Attempt.objects.create(
            person=person,
            scenario=scenario.key,
            revision=scenario.revision,
            calibration=draws.knowledge_of(scenario).calibration,
            symptom=drawn.symptom.numbers,
            opened_at=now,
            token=token,
        )
        draws.keep(attempt, drawn, now=now)
    return attempt


def close(attempt: Attempt, *, token: str, now: datetime) -> Scorecard:
    """Append `close`, grade, and keep the scorecard: all or nothing. Closing again gives the same scorecard."""
    steps.settle(attempt, now=now)
    # The bank's histories are files: read them before the write lock is taken, not while others wait for it.
    grading.read_histories(attempt.events.filter(kind="prevent").values_list("body", flat=True), attempt.draw.table)
    with transaction.atomic():
        held = locked(attempt)
        if held.is_closed:
            return held.scorecard
        append(held, "close", {}, token=token, now=now)
        try:
            graded = grading.scorecard(transcript_of(held), draws.scenario_of(held))
        except (TranscriptError, BankIncomplete, ScenarioError) as error:
            raise ScenarioBroken(f"attempt {held.pk} cannot be graded: {error}") from error
        body = graded.model_dump(mode="json")
        card = Scorecard.objects.create(attempt=held, body=body, total=body["total"], graded_at=now)
        held.closed_at = now
        held.save(update_fields=["closed_at"])
    attempt.closed_at = now
    return card
