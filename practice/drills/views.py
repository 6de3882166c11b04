"""The page of drills and the pages of a sprint. One view answers page and fragment."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from practice.drills import items, orders, scopes, shown
from practice.drills.overview import overview
from practice.errors import NotNow, Slip
from practice.models import Question, Sprint
from practice.people import greet, person_of, remember
from practice.workbench import tokens

LENGTHS = (
    *((f"{number}-questions", f"{number} questions") for number in scopes.QUESTIONS),
    *((f"{number}-minutes", f"{number} minutes") for number in scopes.MINUTES),
)
CHOSEN = {"scope": scopes.ALL, "level": "0", "length": "10-questions"}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    greet(request)
    return _home(request)


def _home(request: HttpRequest, slip: Slip | None = None, status: int = 200) -> HttpResponse:
    context = {
        "view": overview(person_of(request), timezone.now()),
        "lengths": LENGTHS,
        "levels": scopes.LEVELS,
        "chosen": {name: request.POST.get(name, usual) for name, usual in CHOSEN.items()},
        "slips": slip.fields if slip else {},
        "token": tokens.fresh(),
        "due_token": tokens.fresh(),
    }
    return render(request, "practice/drills/home.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """Open a sprint and go to it. A doubled click opens one."""
    if request.method != "POST":
        return redirect("practice:drills")
    now = timezone.now()
    try:
        post = request.POST
        wished = orders.wish(*(str(post.get(name, usual)) for name, usual in CHOSEN.items()))
        person = remember(request, now=now)
        sprint = orders.open_sprint(person, wished, token=tokens.given(str(post.get("token", ""))), now=now)
    except Slip as slip:
        return _home(request, slip, slip.status)
    return redirect("practice:sprint", sprint.pk)


def own_sprint(request: HttpRequest, id: UUID) -> Sprint:
    """The sprint, if it is this person's. Another's is not found."""
    sprint = Sprint.objects.of(person_of(request)).select_related("person").filter(pk=id).first()
    if sprint is None:
        raise Http404("There is no such sprint in this browser.")
    return sprint


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """The question that is open, the result of the last one, or how the sprint went."""
    return _answer(request, own_sprint(request, id))


@require_safe
def question(request: HttpRequest, id: UUID, index: int) -> HttpResponse:
    """One question that was answered, to be read again."""
    sprint = own_sprint(request, id)
    asked = sprint.questions.answered().filter(index=index).first()
    if asked is None:
        return redirect("practice:sprint", sprint.pk)
    context = {"head": shown.head(sprint, timezone.now()), "result": shown.result(asked), "reread": True}
    return render(request, "practice/drills/sprint.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, id: UUID) -> HttpResponse:
    """Judge an answer. One that cannot be read comes back with what was typed, and nothing is counted."""
    sprint = own_sprint(request, id)
    if request.method != "POST":
        return redirect("practice:sprint", sprint.pk)
    given = {str(name): [str(value) for value in values] for name, values in request.POST.lists()}
    try:
        orders.answer(sprint, _index(request), given, now=timezone.now())
    except NotNow as late:
        return _answer(request, sprint, slip=late, typed=None)
    except Slip as slip:
        return _answer(request, sprint, slip=slip, typed=request.POST)
    return _done(request, sprint)


@require_http_methods(["GET", "HEAD", "POST"])
def go_on(request: HttpRequest, id: UUID) -> HttpResponse:
    sprint = own_sprint(request, id)
    if request.method == "POST":
        orders.go_on(sprint, _index(request), now=timezone.now())
    return _done(request, sprint)


@require_http_methods(["GET", "HEAD", "POST"])
def end(request: HttpRequest, id: UUID) -> HttpResponse:
    sprint = own_sprint(request, id)
    if request.method == "POST":
        orders.end(sprint, now=timezone.now())
    return _done(request, sprint)


def _index(request: HttpRequest) -> int:
    typed = str(request.POST.get("index", ""))
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 5 else -1


def _done(request: HttpRequest, sprint: Sprint) -> HttpResponse:
    """After an order: the panel for htmx, else back to the sprint's page, so that a reload sends nothing again."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("practice:sprint", sprint.pk)
    return _answer(request, sprint)


def _answer(request: HttpRequest, sprint: Sprint, slip: Slip | None = None, typed: Any = None) -> HttpResponse:
    sprint.refresh_from_db()
    context = _state(sprint, slip, typed)
    status = slip.status if slip else 200
    if not request.htmx:  # type: ignore[attr-defined]
        return render(request, "practice/drills/sprint.html", context, status=status)
    panel = render_to_string("practice/drills/panel.html", context, request)
    said = render_to_string("practice/panels/said.html", {"said": context["said"]}, request)
    return HttpResponse(f"{panel}\n{said}", status=status)


def _state(sprint: Sprint, slip: Slip | None, typed: Any) -> dict[str, Any]:
    """What the panel shows: exactly one of `ask`, `result` and `lines`."""
    now = timezone.now()
    context: dict[str, Any] = {"head": shown.head(sprint, now), "said": ""}
    last: Question | None = sprint.questions.last()
    if sprint.is_closed or last is None:
        told = shown.lines(list(sprint.questions.all()))
        return context | {"lines": told, "said": f"The sprint has ended: {context['head'].right} right."}
    if last.is_answered:
        told_result = shown.result(last)
        return context | {"result": told_result, "said": told_result.said, "last": _is_last(sprint, last)}
    posed = items.pose(last.item, last.seed)
    if posed is None:
        orders.replace(sprint, last.index, now)
        return _state(Sprint.objects.get(pk=sprint.pk), slip, None)
    asked = shown.question(last, posed, now, typed, slip)
    sentence = " ".join(dict.fromkeys(filter(None, slip.fields.values()))) if slip else f"Question {last.index + 1}."
    return context | {"ask": asked, "said": sentence}


def _is_last(sprint: Sprint, last: Question) -> bool:
    return sprint.wanted is not None and last.index + 1 >= sprint.wanted
