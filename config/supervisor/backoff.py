"""When a child that died is started again, and when that stops making sense. Pure."""

from __future__ import annotations

from collections.abc import Sequence

WINDOW_S = 120.0
MOST_DEATHS = 5
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0


def delay_after(deaths: Sequence[float], now: float) -> float | None:
    """Seconds to wait before the next start, doubling with each recent death; None: give up.

    `deaths` are times on the same clock as `now`, the latest included.
    """
    recent = [at for at in deaths if now - at <= WINDOW_S]
    if len(recent) >= MOST_DEATHS:
        return None
    return min(FIRST_DELAY_S * 2 ** max(len(recent) - 1, 0), LONGEST_DELAY_S)
