"""Someone who drills: through the pages, with the clock set by hand where it matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from string import ascii_lowercase

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from practice.drills import items
from practice.models import Question, Sprint
from scenarios.concept_judging import shuffled
from tests.practice.conftest import token


@dataclass
class Driller:
    """A browser: with htmx, or with plain forms alone."""

    htmx: bool = False
    client: Client = field(default_factory=Client)

    @property
    def headers(self) -> dict[str, str]:
        return {"HX-Request": "true"} if self.htmx else {}

    def home(self) -> str:
        return self.client.get(reverse("practice:drills")).content.decode()

    def send_start(self, scope: str = "napkin", level: str = "1", length: str = "5-questions", with_token: str = ""):
        data = {"scope": scope, "level": level, "length": length, "token": with_token or token()}
        return self.client.post(reverse("practice:start_sprint"), data)

    def start(self, *args: str, **fields: str) -> Sprint:
        answer = self.send_start(*args, **fields)
        assert answer.status_code == 302, answer.content.decode()
        return Sprint.objects.get(pk=answer["Location"].strip("/").split("/")[-1])

    def page(self, sprint: Sprint) -> str:
        return self.client.get(reverse("practice:sprint", args=[sprint.pk])).content.decode()

    def send(self, sprint: Sprint, order: str, **fields: object) -> HttpResponse:
        return self.client.post(reverse(f"practice:drill_{order}", args=[sprint.pk]), fields, headers=self.headers)

    def answer(self, sprint: Sprint, **fields: object) -> HttpResponse:
        return self.send(sprint, "answer", **({"index": last(sprint).index} | fields))

    def go_on(self, sprint: Sprint) -> HttpResponse:
        return self.send(sprint, "next", index=last(sprint).index)


def last(sprint: Sprint) -> Question:
    question = sprint.questions.last()
    assert question is not None
    return question


def posed(sprint: Sprint) -> items.Posed:
    """The question that is open, with all that is right about it."""
    question = last(sprint)
    found = items.pose(question.item, question.seed)
    assert found is not None
    return found


def right(sprint: Sprint) -> dict[str, object]:
    """The form that answers the open question rightly."""
    found = posed(sprint)
    if found.drill:
        return {"typed": found.drill.answer_text}
    concept = found.concept
    assert concept is not None
    if concept.number:
        return {"typed": concept.number.value}
    letter = {at: ascii_lowercase[place] for place, at in enumerate(shuffled(concept, found.seed))}
    if concept.choice:
        return {"choice": [letter[at] for at, option in enumerate(concept.choice) if option.right]}
    if concept.order:
        return {f"place-{letter[at]}": at + 1 for at in range(len(concept.order))}
    return {f"match-{ascii_lowercase[at]}": letter[at] for at in range(len(concept.match))}


@pytest.fixture
def ada() -> Driller:
    return Driller(htmx=True)


@pytest.fixture
def plain_ada() -> Driller:
    return Driller()


@pytest.fixture
def stranger() -> Driller:
    return Driller()


@pytest.fixture
def later(monkeypatch) -> Callable[..., datetime]:
    """Sets the clock of the pages on by so much from here."""
    at = [timezone.now()]
    monkeypatch.setattr(timezone, "now", lambda: at[0])

    def move(**by: float) -> datetime:
        at[0] += timedelta(**by)
        return at[0]

    return move
