"""Error pages of the whole site: a sentence each, what to do next, and a reference where the fault is ours."""

from __future__ import annotations

import logging
import secrets

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

log = logging.getLogger("practice")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Unreadable or oversized input."""
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        return _page(
            request,
            413,
            "That is larger than this page takes.",
            "A value has at most 64 characters and a note 4,000. Go back: what you typed is still there.",
        )
    return _page(request, 400, "That could not be read.", "Go back and send it again; what you typed is still there.")


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Also where the form's own token does not fit the session any more."""
    return _page(
        request,
        403,
        "This page is from an older session.",
        "Go back, copy what you typed, load the page again and send it from there.",
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, "There is nothing here.", "An attempt is only to be seen in the browser that opened it.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Our own fault: a reference to look it up by."""
    reference = secrets.token_hex(4)
    log.error("server error shown to a person", extra={"reference": reference, "path": request.path})
    return _page(
        request,
        500,
        "That was our fault.",
        "It is logged, and your attempt is unharmed. Try again in a moment.",
        reference,
    )


def scenario_broken(request: HttpRequest, error: Exception) -> HttpResponse:
    """A broken scenario: taken down, its author told by the log, the attempt kept as it is."""
    log.error("scenario set aside: %s", error)
    return _page(
        request,
        503,
        "This incident is set aside for the moment.",
        "Something in it has to be mended by its author. Your attempt is kept as it is, and loses nothing.",
    )


def _page(request: HttpRequest, status: int, title: str, text: str, reference: str = "") -> HttpResponse:
    return render(
        request,
        "practice/error.html",
        {"status": status, "title": title, "text": text, "reference": reference},
        status=status,
    )
