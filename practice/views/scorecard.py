"""The scorecard of a closed attempt, and its transcript as a file."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from practice import draws
from practice.models import Attempt
from practice.orders import families
from practice.progress import fold
from practice.transcripts import transcript_of
from practice.views.common import own_attempt
from practice.workbench.scorecard import Debrief, debrief


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """What was scored and why. Before the close there is none: back to the attempt."""
    attempt = own_attempt(request, id)
    if not attempt.is_closed:
        return redirect("practice:attempt", attempt.pk)
    scenario = draws.scenario_of(attempt)
    context = {"attempt": attempt, "scenario": scenario, "card": _debrief(attempt), "now": timezone.now()}
    return render(request, "practice/scorecard.html", context)


def _debrief(attempt: Attempt) -> Debrief:
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
