"""Histories that alerts are tried on: twenty points each, ill from the eleventh where there is a fault."""

from __future__ import annotations

from grader.alerts import Stream, Trial
from grader.knowledge import Knowledge, MetricKnowledge

HEALTHY, ILL = 1.0, 0.4
AT_S = tuple(float(second) for second in range(1, 21))


def history(number: int, fault: str | None, *, noise_at: int | None = None) -> Trial:
    """Twenty points, ill from the eleventh under a fault; one healthy point may look ill."""
    values = [ILL if fault and point >= 10 else HEALTHY for point in range(20)]
    if noise_at is not None:
        values[noise_at] = ILL
    return Trial(f"t{number}", fault, (Stream("all ranks", AT_S, tuple(values), 10 if fault else None),))


def histories(*, noisy: int = 0) -> tuple[Trial, ...]:
    """Eight with the fault, two of another, four healthy ones of which some have a noisy point."""
    faulty = [history(number, "degraded-link") for number in range(8)]
    other = [history(10 + number, "no-overlap") for number in range(2)]
    healthy = [history(20 + number, None, noise_at=5 if number < noisy else None) for number in range(4)]
    return (*faulty, *other, *healthy)


def known(knowledge: Knowledge, *trials: Trial) -> Knowledge:
    metric = MetricKnowledge(id="busbw", title="Bus bandwidth", unit="ratio", worse="lower", trials=trials)
    return knowledge.model_copy(update={"metrics": (metric,)})
