"""The page of the conclusion. Its orders go through `attempt.act`."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from practice import steps
from practice.views.common import answer, own_attempt
from practice.workbench.bench import bench


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """Settle what is ready, then show diagnosis, fix, verification and the rest."""
    attempt, now = own_attempt(request, id), timezone.now()
    steps.settle(attempt, now=now)
    return answer(request, bench(attempt, now=now, here="conclusion"), ["clock"])
