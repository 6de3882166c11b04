"""The page of one's own progress."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from practice.people import person_of
from practice.record import record
from practice.workbench import tokens


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """By criterion, the level, confidence, and what to practise next."""
    return render(request, "practice/record.html", {"record": record(person_of(request)), "token": tokens.fresh()})
