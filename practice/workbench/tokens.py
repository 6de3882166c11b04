"""Form tokens: each rendering of a form has its own, so that one form sent twice counts once."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping

_TOKEN = re.compile(r"^[A-Za-z0-9_-]{8,40}$")


def fresh() -> str:
    return secrets.token_urlsafe(12)


def given(text: str) -> str:
    """The token that a form sent; a new one where it sent none that could be ours."""
    return text if _TOKEN.match(text) else fresh()


def of_form(token: str, fields: Mapping[str, Iterable[str]]) -> str:
    """The token together with what was typed: a form sent again after Back with other words is another order."""
    said = sorted((name, list(values)) for name, values in fields.items() if name not in NOT_TYPED)
    return f"{token}:{hashlib.sha256(repr(said).encode()).hexdigest()[:12]}"


NOT_TYPED = ("token", "csrfmiddlewaretoken")
