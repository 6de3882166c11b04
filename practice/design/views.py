"""The page of design exercises and the page of an attempt at one. Everything works by plain forms."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from practice.design import orders, shown
from practice.design.orders import Post
from practice.errors import NotNow, Slip
from practice.models import DesignAttempt
from practice.people import greet, person_of, remember
from practice.workbench import tokens


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    greet(request)
    return _home(request)


def _home(request: HttpRequest, slip: Slip | None = None, status: int = 200) -> HttpResponse:
    person = person_of(request)
    context = {
        "kinds": shown.kinds(),
        "attempts": shown.attempts(person),
        "token": tokens.fresh(),
        "error": slip.fields.get("item", "") if slip else "",
    }
    return render(request, "practice/design/home.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """Open an exercise and go to it. A doubled click opens one."""
    if request.method != "POST":
        return redirect("practice:design")
    now = timezone.now()
    try:
        person, item = remember(request, now=now), str(request.POST.get("item", ""))
        # With the item: a page that Back brought out again still starts another exercise.
        token = tokens.of_form(tokens.given(str(request.POST.get("token", ""))), {"item": [item]})
        attempt = orders.open_attempt(person, item, token=token, now=now)
    except Slip as slip:
        return _home(request, slip, slip.status)
    return redirect("practice:design_attempt", attempt.pk)


def own_attempt(request: HttpRequest, id: UUID) -> DesignAttempt:
    """The attempt, if it is this person's. Another's is not found."""
    attempt = DesignAttempt.objects.of(person_of(request)).filter(pk=id).first()
    if attempt is None:
        raise Http404("There is no such exercise in this browser.")
    return attempt


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """The form of an exercise that is open, the result of one that was answered."""
    return _page(request, own_attempt(request, id))


@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, id: UUID) -> HttpResponse:
    """Judge an answer. One that cannot be judged yet comes back as it was typed, and nothing is counted."""
    attempt = own_attempt(request, id)
    if request.method == "POST":
        try:
            orders.answer(attempt, _post(request), now=timezone.now())
        except Slip as slip:
            return _page(request, own_attempt(request, id), slip)
    return redirect("practice:design_attempt", attempt.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def draft(request: HttpRequest, id: UUID) -> HttpResponse:
    """Keep what is written so far: by itself while somebody types, or by the form's own button."""
    attempt = own_attempt(request, id)
    kept = request.method == "POST" and orders.keep(attempt, _post(request))
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "practice/design/kept.html", {"kept": kept, "at": timezone.now()})
    return redirect("practice:design_attempt", attempt.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def mark(request: HttpRequest, id: UUID) -> HttpResponse:
    """Keep what the person ticked of the checklist."""
    attempt = own_attempt(request, id)
    if request.method == "POST":
        try:
            orders.mark(attempt, request.POST.getlist("point"), now=timezone.now())
        except NotNow as late:
            return _page(request, attempt, late)
    return redirect("practice:design_attempt", attempt.pk)


def _post(request: HttpRequest) -> Post:
    return {str(name): [str(value) for value in values] for name, values in request.POST.lists()}


def _page(request: HttpRequest, attempt: DesignAttempt, slip: Slip | None = None) -> HttpResponse:
    context: dict[str, Any] = shown.page(attempt, slip, timezone.now())
    context["token"] = tokens.fresh()
    return render(request, "practice/design/exercise.html", context, status=slip.status if slip else 200)
