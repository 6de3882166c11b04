"""Attempts at design exercises. An attempt is kept as its seed: what is right is made again when it is judged."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models


class DesignAttemptQuerySet(models.QuerySet["DesignAttempt"]):
    def of(self, person: models.Model | None) -> DesignAttemptQuerySet:
        """The attempts of one person; none for nobody."""
        return self.none() if person is None else self.filter(person=person)

    def still_open(self) -> DesignAttemptQuerySet:
        return self.filter(answered_at=None)

    def answered(self) -> DesignAttemptQuerySet:
        return self.exclude(answered_at=None)


class DesignAttempt(models.Model):
    """One person's way through one exercise: what was drawn, what is written so far, and how it was judged."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey("practice.Person", on_delete=models.CASCADE, related_name="design_attempts")
    item = models.CharField(max_length=90)
    seed = models.BigIntegerField()
    fingerprint = models.CharField(max_length=16, help_text="of what was asked: a new release may ask otherwise")
    opened_at = models.DateTimeField()
    token = models.CharField(max_length=64, help_text="of the form that opened it: a doubled click opens one attempt")
    answer = models.JSONField(default=dict, blank=True, help_text="as it is typed so far; final once it is answered")
    answered_at = models.DateTimeField(null=True, blank=True)
    shown = models.BooleanField(default=False, help_text="asked to be shown instead of answering")
    right = models.PositiveSmallIntegerField(null=True, help_text="lines that were right, or points ticked by oneself")
    asked = models.PositiveSmallIntegerField(null=True)
    marks = models.JSONField(default=list, blank=True, help_text="points that the person ticked for themselves")
    marked_at = models.DateTimeField(null=True, blank=True)

    objects = DesignAttemptQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-opened_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["person", "token"], name="one_design_attempt_per_token"),
        ]

    def __str__(self) -> str:
        return f"{self.item} {self.id}"

    @property
    def is_answered(self) -> bool:
        return self.answered_at is not None
