"""What every view of an attempt needs: whose it is, and one answer for page and fragment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from practice.models import Attempt
from practice.people import person_of
from practice.workbench.bench import Bench

PAGES = {"search": "practice/attempt.html", "conclusion": "practice/conclusion.html"}


def own_attempt(request: HttpRequest, id: UUID) -> Attempt:
    """The attempt, if it is this person's. Another's is not found: its existence is nobody's business."""
    attempt = Attempt.objects.of(person_of(request)).filter(pk=id).first()
    if attempt is None:
        raise Http404("There is no such attempt in this browser.")
    return attempt


def answer(
    request: HttpRequest,
    bench: Bench,
    panels: Iterable[str] = (),
    *,
    said: str = "",
    status: int = 200,
    extra: str = "",
    **more: Any,
) -> HttpResponse:
    """The whole page; or, for htmx, only `panels` (each replaces itself by its id), with a sentence to be read out.

    `extra` is a fragment of its own that goes first; `more` is handed to the panels.
    """
    if not request.htmx:  # type: ignore[attr-defined]
        return render(request, PAGES[bench.here], {"bench": bench, "said": said}, status=status)
    context = {"bench": bench, "oob": True, **more}
    everywhere = ["coach"] if bench.coach else []
    parts = [render_to_string(f"practice/panels/{panel}.html", context, request) for panel in [*panels, *everywhere]]
    parts.append(render_to_string("practice/panels/said.html", {"said": said}, request))
    return HttpResponse("\n".join([extra, *parts]), status=status)
