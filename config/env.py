"""Environment variables into settings: each read in one place, each error naming the variable and the repair."""

from __future__ import annotations

import os

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    """The variable's text, stripped; `default` where it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    """A yes or no. Raises ImproperlyConfigured for any other word."""
    given = os.environ.get(name)
    if given is None:
        return default
    word = given.strip().lower()
    if word in TRUE | FALSE:
        return word in TRUE
    raise ImproperlyConfigured(f"{name}={given!r} is neither yes nor no; set {name}=1 or {name}=0")


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A list separated by commas."""
    given = [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]
    return given or list(default)


def whole_number(name: str, default: int) -> int:
    """A whole number. Raises ImproperlyConfigured for anything else."""
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    try:
        return int(given)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={given!r} is no whole number; set for example {name}={default}") from None
