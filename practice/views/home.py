"""The first page: what this is, what to start, what to go on with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from practice import attempts, draws, words
from practice.errors import ScenarioBroken
from practice.models import Attempt
from practice.people import greet, person_of, remember
from practice.record import weakest
from practice.workbench import tokens
from scenarios import library
from scenarios.errors import ScenarioError
from scenarios.format import Level, Scenario


@dataclass(frozen=True)
class Incident:
    """A scenario as the first page offers it."""

    key: str
    title: str
    track: str
    level: str
    causes: int
    steps: int
    budget_min: float
    ready: bool
    token: str


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    greet(request)
    mine = Attempt.objects.of(person_of(request)).select_related("scorecard")
    titles = {scenario.key: scenario.title for scenario in _scenarios()}
    context: dict[str, Any] = {
        "incidents": [_incident(scenario) for scenario in _scenarios()],
        "open": [_line(attempt, titles) for attempt in mine.still_open()[:5]],
        "weakest": weakest(person_of(request)),
        "token": tokens.fresh(),
        "recent": [_line(attempt, titles) for attempt in mine.closed()[:8]],
    }
    return render(request, "practice/home.html", context)


def _scenarios() -> list[Scenario]:
    """Every scenario that can be read, the easiest first; a broken one is taken down."""
    found = []
    for key in library.keys():
        try:
            found.append(library.get(key))
        except ScenarioError:
            continue
    return sorted(found, key=lambda one: (get_args(Level).index(one.level), len(one.causes)))


def _incident(scenario: Scenario) -> Incident:
    return Incident(
        scenario.key,
        scenario.title,
        " · ".join(words.TRACKS.get(track, track) for track in scenario.every_track),
        scenario.level,
        len(scenario.causes),
        len(scenario.steps),
        scenario.time_budget_min,
        ready=draws.is_ready(scenario),
        token=tokens.fresh(),
    )


def _line(attempt: Attempt, titles: dict[str, str]) -> dict[str, Any]:
    card = getattr(attempt, "scorecard", None)
    return {
        "id": attempt.pk,
        "title": titles.get(attempt.scenario, attempt.scenario),
        "opened_at": attempt.opened_at,
        "closed_at": attempt.closed_at,
        "points": None if card is None else round(100 * card.total),
        "short": str(attempt.pk)[:4],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, key: str) -> HttpResponse:
    """Open an attempt and go to it. A doubled click opens one."""
    if request.method != "POST":
        return redirect("practice:home")
    if key not in library.keys():
        raise Http404(f"There is no incident “{key}”.")
    attempt = _open(request, key, timezone.now())
    return redirect("practice:attempt", attempt.pk)


def _open(request: HttpRequest, key: str, now: datetime) -> Attempt:
    try:
        scenario = library.get(key)
    except ScenarioError as error:
        raise ScenarioBroken(str(error)) from error
    person = remember(request, now=now)
    return attempts.open_attempt(person, scenario, token=tokens.given(str(request.POST.get("token", ""))), now=now)
