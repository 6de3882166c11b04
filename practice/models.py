"""People, attempts and their append-only events.

What must stay hidden until the close (the drawn instance) lives in `Draw`, so that nothing that serialises an
attempt or its events can include it.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.db import models


class Person(models.Model):
    """Someone who practises, known by a browser session alone: no account, no name."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.id)


class AttemptQuerySet(models.QuerySet["Attempt"]):
    def of(self, person: Person | None) -> AttemptQuerySet:
        """The attempts of one person; none for nobody."""
        return self.none() if person is None else self.filter(person=person)

    def still_open(self) -> AttemptQuerySet:
        return self.filter(closed_at=None)

    def closed(self) -> AttemptQuerySet:
        return self.exclude(closed_at=None)


class Attempt(models.Model):
    """One person's way through one scenario revision. `symptom` holds the measured numbers of the brief."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="attempts")
    scenario = models.CharField(max_length=80)
    revision = models.PositiveIntegerField()
    calibration = models.CharField(max_length=80, help_text="digest of the tables that the attempt is scored by")
    symptom = models.JSONField(default=dict)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    token = models.CharField(max_length=64, help_text="of the form that opened it: a doubled click opens one attempt")

    objects = AttemptQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-opened_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["person", "token"], name="one_attempt_per_token"),
        ]

    def __str__(self) -> str:
        return f"{self.scenario} {self.id}"

    @property
    def owner(self) -> str:
        """The opaque name that runs and evidence of this attempt carry."""
        return str(self.id)

    @property
    def is_closed(self) -> bool:
        return self.closed_at is not None

    def seconds_at(self, now: datetime) -> float:
        """Seconds from the opening to `now`, never negative."""
        return max(0.0, round((now - self.opened_at).total_seconds(), 3))


class Draw(models.Model):
    """The hidden side of an attempt: which instance it drew. Read by services, never handed to a template."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, primary_key=True, related_name="draw")
    table = models.CharField(max_length=120)
    instance = models.CharField(max_length=120)
    kept = models.JSONField(default=dict, help_text="the instance itself: a later release may bring another bank")
    symptom_finding = models.CharField(max_length=80)
    fraction_of_floor = models.FloatField(help_text="of the job's collective, as measured: the truth of that estimate")

    def __str__(self) -> str:
        return "a draw"


class AppendOnly(Exception):
    """An event was about to be changed or deleted."""


class EventQuerySet(models.QuerySet["Event"]):
    def update(self, **kwargs: Any) -> int:
        raise AppendOnly("events are append-only: they cannot be updated")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnly("events are append-only: they cannot be deleted")


class Event(models.Model):
    """One line of an attempt's log, in the words of `grader.transcript`. `body` leaves out `kind` and `at_s`."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="events")
    index = models.PositiveIntegerField()
    at_s = models.FloatField()
    kind = models.CharField(max_length=24)
    body = models.JSONField(default=dict)
    token = models.CharField(max_length=128)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["attempt", "index"], name="one_event_per_index"),
            models.UniqueConstraint(fields=["attempt", "token"], name="one_event_per_token"),
        ]

    def __str__(self) -> str:
        return f"{self.index} {self.kind}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("events are append-only: they cannot be changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise AppendOnly("events are append-only: they cannot be deleted")

    def as_transcript(self) -> dict[str, Any]:
        """The event as a transcript holds it: `{at_s, kind, ...}`."""
        return {"at_s": self.at_s, "kind": self.kind, **self.body}


class Choice(models.Model):
    """A step that a candidate chose: which form chose it and which evidence answers it.

    The `step` event follows only when the evidence is shown; this row makes a doubled click one choice.
    """

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="choices")
    token = models.CharField(max_length=128)
    evidence = models.UUIDField()
    against = models.JSONField(default=str, blank=True, help_text="verifications: what the reading is held against")
    chosen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["chosen_at", "pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["attempt", "token"], name="one_choice_per_token"),
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id} {self.evidence}"


class Scorecard(models.Model):
    """What the grader returned at the close, as it was then."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, primary_key=True, related_name="scorecard")
    body = models.JSONField()
    total = models.FloatField()
    graded_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.total:.2f}"


# Django looks for models here alone; those of a feature lie in its folder.
from practice.design.models import DesignAttempt  # noqa: E402, F401
from practice.drills.models import Memory, Question, Sprint  # noqa: E402, F401
