"""Evidence of an attempt: its card, its reading as JSON and CSV, and the report of a bad reading."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from gpu_worker.models import Evidence
from practice import steps
from practice.models import Attempt
from practice.views.common import answer, own_attempt
from practice.workbench.bench import Bench, bench
from scenarios import evidence as service


def own_evidence(attempt: Attempt, evidence_id: UUID) -> Evidence:
    """Evidence that stands on this attempt's pages. Raises Http404 for any other."""
    row = Evidence.objects.filter(pk=evidence_id, owner=attempt.owner, purpose__in=steps.PAGE_PURPOSES).first()
    if row is None:
        raise Http404("There is no such evidence in this attempt.")
    return row


def page_of(row: Evidence) -> str:
    return "conclusion" if row.purpose == "verify" else "search"


@require_safe
def card(request: HttpRequest, id: UUID, evidence_id: UUID) -> HttpResponse:
    """One card: still pending, or whole. A pending card asks again; a whole one does not, and so polling ends."""
    attempt, now = own_attempt(request, id), timezone.now()
    row = own_evidence(attempt, evidence_id)
    steps.settle(attempt, now=now)
    here = bench(attempt, now=now, here=page_of(row))
    shown = here.card(row.pk)
    if not request.htmx:  # type: ignore[attr-defined]
        name = "practice:conclusion" if here.here == "conclusion" else "practice:attempt"
        return redirect(reverse(name, args=[attempt.pk]) + f"#evidence-{row.pk}")
    if shown is None:
        return HttpResponse(status=204)
    html = render_to_string("practice/panels/card.html", {"bench": here, "card": shown}, request)
    if not shown.shown:
        return HttpResponse(html)
    said = f"{shown.title}: the reading is here."
    return answer(request, here, _changed(here), said=said, extra=html, card=shown)


def _changed(here: Bench) -> list[str]:
    """What else changes once a reading has come: it may be cited from now on."""
    if here.here == "conclusion":
        return ["clock", "verify", "conclusion_nav"]
    return ["clock", "palette", "goto", "other_rule_outs"]


@require_safe
def as_json(request: HttpRequest, id: UUID, evidence_id: UUID) -> HttpResponse:
    """The reading as the page shows it; 404 until it is shown."""
    view = _view(request, id, evidence_id)
    return JsonResponse(public(view), json_dumps_params={"indent": 2, "ensure_ascii": False})


def public(view: service.EvidenceView) -> dict[str, Any]:
    """What a candidate may take away of an evidence: all that its card shows, without the figure."""
    named = asdict(view)
    named["with"] = named.pop("with_")
    return {
        name: named[name] for name in ("step", "title", "with", "live", "readings", "series", "provenance", "on_nccl")
    }


@require_safe
def as_csv(request: HttpRequest, id: UUID, evidence_id: UUID) -> HttpResponse:
    """Readings first, then each series under its name."""
    view = _view(request, id, evidence_id)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["reading", "value", "unit"])
    writer.writerows([r["label"], r["value"], r["unit"]] for r in view.readings)
    for name, series in view.series.items():
        writer.writerow([])
        writer.writerow([name])
        writer.writerow(
            [c if u in ("text", "") else f"{c} ({u})" for c, u in zip(series["columns"], series["units"], strict=True)]
        )
        writer.writerows(series["rows"])
    response = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{view.step}.csv"'
    return response


def _view(request: HttpRequest, id: UUID, evidence_id: UUID) -> service.EvidenceView:
    attempt = own_attempt(request, id)
    row = own_evidence(attempt, evidence_id)
    if row.shown_at is None:
        raise Http404("This reading is not here yet.")
    return service.view(row)


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, id: UUID, evidence_id: UUID) -> HttpResponseBase:
    """Mark a reading as bad: it stays in the log, and whoever runs this place can look into it."""
    attempt, now = own_attempt(request, id), timezone.now()
    row = own_evidence(attempt, evidence_id)
    if row.shown_at is None:
        raise Http404("This reading is not here yet.")
    if request.method == "POST":
        Evidence.objects.filter(pk=row.pk).update(reported_bad=True)
    here = bench(attempt, now=now, here=page_of(row))
    if not request.htmx:  # type: ignore[attr-defined]
        name = "practice:conclusion" if here.here == "conclusion" else "practice:attempt"
        return redirect(reverse(name, args=[attempt.pk]) + f"#evidence-{row.pk}")
    shown = here.card(row.pk)
    reported = render_to_string("practice/panels/reported.html", {"bench": here, "card": shown}, request)
    return answer(request, here, said="Reported as a bad reading.", extra=reported)
