"""Turns a broken scenario into its own page, wherever in a view it comes up."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from practice.errors import ScenarioBroken
from practice.views.errors import scenario_broken
from scenarios.errors import BankIncomplete


class BrokenScenarioMiddleware:
    """Answers ScenarioBroken with 503 and a page that says the attempt is unharmed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        # The bank may also be found lacking while a reading is asked for or shown.
        broken = isinstance(exception, ScenarioBroken | BankIncomplete)
        return scenario_broken(request, exception) if broken else None
