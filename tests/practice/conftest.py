"""A candidate who drives the pages, on the flagship and its real bank."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from practice.models import Attempt
from scenarios import instances, library
from scenarios.format import Scenario

KEY = "slow-all-reduce"
_numbers = itertools.count(1)


def token() -> str:
    """A form token that no other form of this test run has."""
    return f"token-{next(_numbers):08d}"


@dataclass
class Candidate:
    """Someone at a browser: with htmx, or with plain forms alone."""

    htmx: bool = False
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=False))

    @property
    def headers(self) -> dict[str, str]:
        return {"HX-Request": "true"} if self.htmx else {}

    def start(self, key: str = KEY) -> Attempt:
        answer = self.client.post(reverse("practice:start", args=[key]), {"token": token()})
        assert answer.status_code == 302
        return Attempt.objects.get(pk=answer["Location"].strip("/").split("/")[-1])

    def do(self, attempt: Attempt, kind: str, with_token: str | None = None, **fields: object) -> HttpResponse:
        """Send one order's form."""
        data = {"token": with_token or token(), **{name.replace("__", "-"): value for name, value in fields.items()}}
        return self.client.post(reverse("practice:act", args=[attempt.pk, kind]), data, headers=self.headers)

    def page(self, attempt: Attempt, name: str = "attempt") -> str:
        """A page's HTML, as a plain browser reads it."""
        return self.client.get(reverse(f"practice:{name}", args=[attempt.pk])).content.decode()

    def step(self, attempt: Attempt, step: str, **with_: str) -> HttpResponse:
        return self.do(attempt, "step", step=step, **{f"with__{name}": value for name, value in with_.items()})


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    return library.get(KEY)


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Every test here keeps attempts."""


@pytest.fixture
def ada() -> Candidate:
    """A candidate with JavaScript."""
    return Candidate(htmx=True)


@pytest.fixture
def plain_ada() -> Candidate:
    """The same, without it."""
    return Candidate()


@pytest.fixture
def stranger() -> Candidate:
    return Candidate()


@pytest.fixture
def draws_cause(monkeypatch, scenario: Scenario) -> Callable[[str], None]:
    """Makes the next attempts draw a named cause: by the seed, so that the drawing itself stays real."""

    def choose(cause: str) -> None:
        seed = next(s for s in map(str, range(1000)) if instances.draw(scenario, seed=s).cause == cause)
        monkeypatch.setattr("practice.draws.secrets.token_hex", lambda size: seed)

    return choose


def kinds(attempt: Attempt) -> list[str]:
    """The log's kinds of events, in order."""
    return list(attempt.events.values_list("kind", flat=True))


def bodies(attempt: Attempt, kind: str) -> list[dict]:
    return [event.body for event in attempt.events.filter(kind=kind)]


def without_tokens(html: str) -> str:
    """A page without what is new at each rendering."""
    return re.sub(r'name="(token|csrfmiddlewaretoken)" value="[^"]*"', "", html)
