"""The scorecard of a closed attempt, and its transcript as a file."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from practice import alerts, draws
from practice.errors import Slip
from practice.models import Attempt
from practice.orders import families
from practice.progress import fold
from practice.transcripts import transcript_of
from practice.views.common import own_attempt
from practice.workbench.scorecard import Debrief, debrief
from practice.workbench.typed import Typed
from scenarios import alert_trials


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """What was scored and why. Before the close there is none: back to the attempt."""
    attempt = own_attempt(request, id)
    if not attempt.is_closed:
        return redirect("practice:attempt", attempt.pk)
    scenario = draws.scenario_of(attempt)
    asked = _asked(request, alert_trials.recorded(scenario.table))
    card = _debrief(attempt, asked)
    tried = card.alerts.tried if card.alerts else None
    said = " ".join(asked.slips.values()) or (tried.sentence if tried else "")
    context = {"attempt": attempt, "scenario": scenario, "card": card, "now": timezone.now(), "said": said}
    return render(request, "practice/scorecard.html", context)


def _asked(request: HttpRequest, offered: tuple[str, ...]) -> Typed:
    """An alert to try on the recorded incidents, from the page's address: nothing of it is kept or scored."""
    if "alert-threshold" not in request.GET:
        return Typed()
    slips: Mapping[str, str] = {}
    try:
        if alerts.being_written(request.GET, offered) is None:
            slips = {"alert-threshold": alerts.NO_THRESHOLD}
    except Slip as slip:
        slips = slip.fields
    return Typed("prevent", request.GET, slips)


def _debrief(attempt: Attempt, asked: Typed) -> Debrief:
    scenario = draws.scenario_of(attempt)
    progress = fold(attempt.events.all(), families(scenario))
    knowledge = draws.knowledge_of(scenario)
    return debrief(
        attempt.scorecard.body,
        scenario,
        draws.instance_of(attempt),
        progress,
        knowledge,
        attempt.draw.fraction_of_floor,
        asked,
    )


@require_safe
def transcript(request: HttpRequest, id: UUID) -> HttpResponse:
    """The attempt as a transcript file, with its hidden cause: only after the close."""
    attempt = own_attempt(request, id)
    if not attempt.is_closed:
        return redirect("practice:attempt", attempt.pk)
    response = JsonResponse(transcript_of(attempt), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{attempt.scenario}-{str(attempt.pk)[:8]}.json"'
    return response
