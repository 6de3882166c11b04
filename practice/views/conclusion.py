"""The page of the conclusion, and alerts tried there. Its orders go through `attempt.act`."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from practice import alerts, draws, steps
from practice.errors import Slip
from practice.orders import Post
from practice.views.common import answer, own_attempt
from practice.workbench.bench import bench
from practice.workbench.typed import Typed
from scenarios import alert_trials


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """Settle what is ready, then show diagnosis, fix, verification and the rest."""
    attempt, now = own_attempt(request, id), timezone.now()
    steps.settle(attempt, now=now)
    return answer(request, bench(attempt, now=now, here="conclusion"), ["clock"])


@require_http_methods(["GET", "HEAD", "POST"])
def try_alert(request: HttpRequest, id: UUID) -> HttpResponse:
    """The alert being written, on recorded healthy runs. Nothing is noted; what was typed comes back."""
    attempt, now = own_attempt(request, id), timezone.now()
    if request.method != "POST" or attempt.is_closed:
        return redirect(reverse("practice:conclusion", args=[attempt.pk]) + "#prevention")
    offered = alert_trials.recorded(draws.scenario_of(attempt).table)
    if not offered:
        raise Http404("No metric of this incident is recorded.")
    slips = _slips(request.POST, offered)
    shown = bench(attempt, now=now, typed=Typed("prevent", request.POST, slips), here="conclusion")
    tried = shown.conclusion["prevention"].alerts.tried
    said = " ".join(slips.values()) or (tried.sentence if tried else "")
    return answer(request, shown, ["prevention"], said=said, status=Slip.status if slips else 200)


def _slips(post: Post, offered: tuple[str, ...]) -> dict[str, str]:
    if not str(post.get("alert-threshold", "")).strip():
        return {"alert-threshold": alerts.NO_THRESHOLD}
    try:
        alerts.kept(post, offered)
    except Slip as slip:
        return slip.fields
    return {}
