"""Waiting for a condition with a name and a deadline, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE_S = 0.02


def wait_until(what: str, condition: Callable[[], T], within_s: float = 30.0, pause_s: float = PAUSE_S) -> T:
    """The condition's first true answer. Raises AssertionError naming it where the deadline passes."""
    deadline = time.monotonic() + within_s
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within_s:.0f} s in vain until {what}")
        time.sleep(pause_s)
