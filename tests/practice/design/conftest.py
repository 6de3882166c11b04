"""Someone who does design exercises, through the pages."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from practice.design import items
from practice.design.base import Posed
from practice.models import DesignAttempt
from tests.practice.conftest import token


@dataclass
class Designer:
    """A browser with plain forms alone; `htmx` is what keeps what is written meanwhile."""

    client: Client = field(default_factory=Client)

    def home(self) -> str:
        return self.client.get(reverse("practice:design")).content.decode()

    def send_start(self, item: str, with_token: str = "") -> HttpResponse:
        return self.client.post(reverse("practice:start_design"), {"item": item, "token": with_token or token()})

    def start(self, item: str, with_token: str = "") -> DesignAttempt:
        answer = self.send_start(item, with_token)
        assert answer.status_code == 302, answer.content.decode()
        return DesignAttempt.objects.get(pk=answer["Location"].strip("/").split("/")[-1])

    def page(self, attempt: DesignAttempt) -> str:
        answer = self.client.get(reverse("practice:design_attempt", args=[attempt.pk]))
        assert answer.status_code == 200
        return answer.content.decode()

    def send(self, attempt: DesignAttempt, order: str, form: dict, htmx: bool = False) -> HttpResponse:
        headers = {"HX-Request": "true"} if htmx else {}
        answer = self.client.post(reverse(f"practice:design_{order}", args=[attempt.pk]), form, headers=headers)
        attempt.refresh_from_db()
        return answer


def posed(attempt: DesignAttempt) -> Posed:
    """The attempt's exercise, with all that is right about it."""
    found = items.pose(attempt.item, attempt.seed)
    assert found is not None
    return found


def right(attempt: DesignAttempt) -> dict[str, list[str]]:
    """The form that is right in every line."""
    found = posed(attempt)
    return found.kind.model_answer(found.task)


def put(attempt: DesignAttempt, item: str, seed: int) -> None:
    """Makes an open attempt that of an item and a seed."""
    found = items.pose(item, seed)
    assert found is not None
    attempt.item, attempt.seed, attempt.fingerprint = item, seed, found.fingerprint
    attempt.save()


@pytest.fixture
def ada() -> Designer:
    return Designer()


@pytest.fixture
def stranger() -> Designer:
    return Designer()
