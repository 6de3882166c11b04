"""The workbench of an attempt: its page, and every order that a candidate gives there or on the conclusion's page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from practice import attempts, draws, orders, steps
from practice.errors import AttemptClosed, Slip
from practice.events import append, refuse_a_full_log
from practice.models import Attempt
from practice.orders import families
from practice.progress import fold
from practice.views.common import answer, own_attempt
from practice.workbench import tokens
from practice.workbench.bench import Bench, bench
from practice.workbench.typed import Typed
from scenarios.format import Scenario


@require_safe
def page(request: HttpRequest, id: UUID) -> HttpResponse:
    """Settle what is ready, then show the workbench."""
    attempt, now = own_attempt(request, id), timezone.now()
    steps.settle(attempt, now=now)
    return answer(request, bench(attempt, now=now), ["clock"])


@dataclass(frozen=True)
class Order:
    """Where an order's form stands, the panels it changes, what is then read out, the event that tells scripts."""

    here: str
    panels: tuple[str, ...]
    said: str
    happened: str
    anchor: str = ""


ORDERS: dict[str, Order] = {
    "ask": Order("search", ("facts",), "Answered.", "factAsked", "facts"),
    "estimate": Order("search", ("estimates",), "Noted.", "estimateNoted", "estimates"),
    "verdict": Order("search", ("verdict",), "Verdict given.", "verdictGiven", "verdict"),
    "hypothesis": Order("search", ("board", "palette"), "Leading hypotheses set.", "hypothesesSet", "board"),
    "rule_out": Order("search", ("board", "palette", "rule_outs"), "Ruled out.", "causesRuledOut", "board"),
    "restore": Order("search", ("board", "palette", "rule_outs"), "Taken back.", "causesRestored", "board"),
    "note": Order("search", ("notes",), "Note kept.", "noteKept", "notes"),
    "hint": Order("search", ("hints",), "Hint shown.", "hintTaken", "hints"),
    "step": Order("search", ("clock", "palette", "goto"), "Step chosen: it is running.", "stepChosen", "timeline"),
    "verify": Order("conclusion", ("clock", "verify"), "Verification chosen: it is running.", "stepChosen", "verify"),
    "diagnose": Order("conclusion", ("diagnosis", "conclusion_nav"), "Diagnosis noted.", "causeNamed", "success"),
    "success": Order(
        "conclusion", ("success", "fixes", "conclusion_nav"), "Success declared.", "successDeclared", "fixes"
    ),
    "fix": Order("conclusion", ("fixes", "verify", "conclusion_nav"), "The fix is applied.", "fixApplied", "verify"),
    "prevent": Order("conclusion", ("prevention", "conclusion_nav"), "Measures noted.", "measuresNoted", "close"),
    "close": Order("conclusion", (), "Closed.", "attemptClosed"),
}


@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, id: UUID, kind: str) -> HttpResponse:
    """One order: one or more events, or a step to run. A refused form comes back with what was typed."""
    attempt, now = own_attempt(request, id), timezone.now()
    order = ORDERS.get(kind)
    if order is None:
        raise Http404(f"There is no order “{kind}”.")
    if request.method != "POST":
        return redirect(_address(order, attempt))
    steps.settle(attempt, now=now)
    try:
        done = _carry_out(request, attempt, kind, now)
    except Slip as slip:
        return _refused(request, attempt, kind, slip, now)
    if kind == "close":
        return _moved(request, reverse("practice:scorecard", args=[attempt.pk]))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(_address(order, attempt))
    after = bench(attempt, now=now, here=order.here)
    told = answer(request, after, order.panels, said=order.said, extra=_new_card(request, after, done))
    told["HX-Trigger-After-Settle"] = order.happened
    return told


def _carry_out(request: HttpRequest, attempt: Attempt, kind: str, now: datetime) -> steps.Chosen | None:
    token = tokens.given(str(request.POST.get("token", "")))
    if kind == "close":
        attempts.close(attempt, token=token, now=now)
        return None
    if attempt.is_closed:
        raise AttemptClosed
    scenario = draws.scenario_of(attempt)
    token = tokens.of_form(token, dict(request.POST.lists()))
    if kind in ("step", "verify"):
        chosen = steps.choose(attempt, _wish(request, scenario, kind, token), now=now)
        steps.settle(attempt, now=now)  # what the bank answers is here at once
        return chosen
    _append_all(request, attempt, kind, token, now)
    return None


def _append_all(request: HttpRequest, attempt: Attempt, kind: str, token: str, now: datetime) -> None:
    """Read the form against the log as it is, and append its events. Good estimates are kept beside bad ones."""
    if attempt.events.filter(token__startswith=f"{token}:{kind}:").exists():
        return  # the same form, sent twice
    refuse_a_full_log(attempt)
    if kind == "fix":
        steps.refuse_while_measuring(attempt)
    scenario = draws.scenario_of(attempt)
    progress = fold(attempt.events.all(), families(scenario))
    slip: Slip | None = None
    try:
        drafts = orders.READERS[kind](request.POST, scenario, progress)
    except orders.EstimateSlip as refused:
        drafts, slip = refused.good, refused
    for draft in drafts:
        append(attempt, draft.kind, dict(draft.body), token=f"{token}:{kind}:{draft.key}", now=now)
    if slip:
        raise slip


def _wish(request: HttpRequest, scenario: Scenario, kind: str, token: str) -> steps.Wish:
    if kind == "verify":
        step, with_ = orders.variant(request.POST, scenario)
        return steps.Wish(step, with_, token, purpose="verify", against=orders.against(request.POST))
    step = orders.known_step(request.POST, scenario)
    with_ = orders.parameters(request.POST, step)
    return steps.Wish(step, with_, token, expect=orders.predictions(request.POST, step, scenario))


def _refused(request: HttpRequest, attempt: Attempt, kind: str, slip: Slip, now: datetime) -> HttpResponse:
    attempt.refresh_from_db()
    order = ORDERS[kind]
    typed = Typed(kind, request.POST, slip.fields)
    before = bench(attempt, now=now, typed=typed, here=order.here)
    sentence = " ".join(dict.fromkeys(filter(None, slip.fields.values())))
    return answer(request, before, [*order.panels, "notice"], said=sentence, status=slip.status)


def _new_card(request: HttpRequest, after: Bench, done: steps.Chosen | None) -> str:
    """The card of a step that was just chosen, to stand on top of the time-line."""
    if done is None or not done.fresh:
        return ""
    card = after.card(done.evidence.pk)
    return render_to_string("practice/panels/new_card.html", {"bench": after, "card": card}, request) if card else ""


def _address(order: Order, attempt: Attempt) -> str:
    name = "practice:conclusion" if order.here == "conclusion" else "practice:attempt"
    anchor = f"#{order.anchor}" if order.anchor else ""
    return reverse(name, args=[attempt.pk]) + anchor


def _moved(request: HttpRequest, address: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)
