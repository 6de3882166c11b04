"""Who is asking: a person tied to the browser's session, without an account."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid5

from django.contrib.sessions.backends.base import SessionBase

from practice.models import Person

SESSION_KEY = "person"
GREETED = "greeted"
# People are named after the session that made them, so that two clicks at once make one.
OF_SESSIONS = UUID("8f5c2f0e-4c0d-4c53-9d0c-6f2f3a1b7e19")


class HasSession(Protocol):
    session: SessionBase


def person_of(request: HasSession) -> Person | None:
    """The person of this session, or None before they opened their first attempt."""
    try:
        known = UUID(str(request.session.get(SESSION_KEY, "")))
    except ValueError:
        return None
    return Person.objects.filter(pk=known).first()


def greet(request: HasSession) -> None:
    """Gives a browser its session before it can click: clicks without one would each get their own."""
    if request.session.session_key is None:
        request.session[GREETED] = True


def remember(request: HasSession, *, now: datetime) -> Person:
    """The person of this session, made if there is none. The cookie's time starts anew with each attempt."""
    person = person_of(request)
    if person is None:
        if request.session.session_key is None:
            request.session.create()
        named = uuid5(OF_SESSIONS, str(request.session.session_key))
        person, _ = Person.objects.get_or_create(pk=named, defaults={"created_at": now})
        request.session[SESSION_KEY] = str(person.pk)
    request.session.modified = True
    return person
