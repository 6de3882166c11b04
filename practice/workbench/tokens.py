"""Form tokens: each rendering of a form has its own, so that one form sent twice counts once."""

from __future__ import annotations

import re
import secrets

_TOKEN = re.compile(r"^[A-Za-z0-9_-]{8,40}$")


def fresh() -> str:
    return secrets.token_urlsafe(12)


def given(text: str) -> str:
    """The token that a form sent; a new one where it sent none that could be ours."""
    return text if _TOKEN.match(text) else fresh()
