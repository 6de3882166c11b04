"""Who is asking: a person tied to the browser's session, without an account."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase

from practice.models import Person

SESSION_KEY = "person"


class HasSession(Protocol):
    session: SessionBase


def person_of(request: HasSession) -> Person | None:
    """The person of this session, or None before they opened their first attempt."""
    try:
        known = UUID(str(request.session.get(SESSION_KEY, "")))
    except ValueError:
        return None
    return Person.objects.filter(pk=known).first()


def remember(request: HasSession, *, now: datetime) -> Person:
    """The person of this session, made if there is none. The cookie's time starts anew with each attempt."""
    person = person_of(request)
    if person is None:
        person = Person.objects.create(created_at=now)
        request.session[SESSION_KEY] = str(person.pk)
    request.session.modified = True
    return person
