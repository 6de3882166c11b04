"""Sprints, the questions that they asked, and what is remembered of each item.

A question is kept as its seed: what is right is made again on the server when it is judged, and never stored or sent.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models


class SprintQuerySet(models.QuerySet["Sprint"]):
    def of(self, person: models.Model | None) -> SprintQuerySet:
        """The sprints of one person; none for nobody."""
        return self.none() if person is None else self.filter(person=person)


class Sprint(models.Model):
    """A run of questions about one scope, until so many were asked or so many minutes are over."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey("practice.Person", on_delete=models.CASCADE, related_name="sprints")
    scope = models.CharField(max_length=60, help_text="what is asked about, as practice.drills.scopes names it")
    level = models.PositiveSmallIntegerField(default=0, help_text="of napkin drills; 0 is any")
    wanted = models.PositiveSmallIntegerField(null=True, help_text="questions; null where time ends it")
    minutes = models.PositiveSmallIntegerField(null=True)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    token = models.CharField(max_length=64, help_text="of the form that opened it: a doubled click opens one sprint")

    objects = SprintQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-opened_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["person", "token"], name="one_sprint_per_token"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.id}"

    @property
    def is_closed(self) -> bool:
        return self.closed_at is not None

    def seconds_at(self, now: datetime) -> float:
        return max(0.0, (now - self.opened_at).total_seconds())


class QuestionQuerySet(models.QuerySet["Question"]):
    def of(self, person: models.Model | None) -> QuestionQuerySet:
        return self.none() if person is None else self.filter(sprint__person=person)

    def answered(self) -> QuestionQuerySet:
        return self.exclude(answered_at=None)


class Question(models.Model):
    """One question of a sprint: which item with which seed, and once it is answered, what of and how it was judged."""

    sprint = models.ForeignKey(Sprint, on_delete=models.CASCADE, related_name="questions")
    index = models.PositiveSmallIntegerField()
    item = models.CharField(max_length=90)
    seed = models.BigIntegerField()
    fingerprint = models.CharField(max_length=16, help_text="of what was asked: a new release may ask otherwise")
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    answer = models.JSONField(default=dict, blank=True, help_text="as it was typed or ticked")
    verdict = models.CharField(max_length=12, blank=True)
    slip = models.CharField(max_length=300, blank=True, help_text="the name of the slip, if it has one")
    rating = models.PositiveSmallIntegerField(null=True, help_text="FSRS: 1 again, 2 hard, 3 good, 4 easy")
    sure = models.PositiveSmallIntegerField(null=True, help_text="per cent, as said before the answer was judged")
    due_at = models.DateTimeField(null=True, help_text="when the item came up again, as it was then")

    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["sprint", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["sprint", "index"], name="one_question_per_index"),
        ]

    def __str__(self) -> str:
        return f"{self.index} {self.item}"

    @property
    def is_answered(self) -> bool:
        return self.answered_at is not None

    @property
    def is_right(self) -> bool:
        return self.verdict == "right"

    @property
    def seconds(self) -> float | None:
        return None if self.answered_at is None else max(0.0, (self.answered_at - self.asked_at).total_seconds())


class MemoryQuerySet(models.QuerySet["Memory"]):
    def of(self, person: models.Model | None) -> MemoryQuerySet:
        return self.none() if person is None else self.filter(person=person)

    def due_at(self, now: datetime) -> MemoryQuerySet:
        return self.filter(due__lte=now)


class Memory(models.Model):
    """How well one person remembers one item, in the words of FSRS."""

    person = models.ForeignKey("practice.Person", on_delete=models.CASCADE, related_name="memories")
    item = models.CharField(max_length=90)
    state = models.JSONField(help_text="the card, as py-fsrs writes it")
    due = models.DateTimeField()

    objects = MemoryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["due"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["person", "due"], name="memory_due")]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["person", "item"], name="one_memory_per_item"),
        ]

    def __str__(self) -> str:
        return self.item
