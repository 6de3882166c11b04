"""One line for the person, at once."""

from __future__ import annotations

import sys
from typing import IO


def say(line: str, *, to: IO[str] | None = None) -> None:
    """Prints and flushes. A closed terminal must not stop the stop."""
    try:
        print(line, file=to or sys.stdout, flush=True)
    except (OSError, ValueError):
        pass
