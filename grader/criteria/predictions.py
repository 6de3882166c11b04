"""What the candidate said a step would show, against the measured table. Committed before looking."""

from __future__ import annotations

from dataclasses import dataclass

from grader.criteria.base import Case
from grader.timeline import Taken
from grader.transcript import Predict, TranscriptError, variant_id


@dataclass(frozen=True)
class Prediction:
    """One predict event against its step. `score`: mean over causes of P(said) over P(most likely), 0–1."""

    event: int
    variant: str
    score: float


def predictions(case: Case) -> list[Prediction]:
    """Every prediction whose step then brought evidence; the first one made for a step counts."""
    found: dict[int, Prediction] = {}
    for number, event in case.timeline.events(Predict):
        taken = _answered_by(case, number, variant_id(event.step, event.with_))
        if taken is None or taken.event in found:
            continue
        chances = _chances(case, number, event, taken)
        if chances:
            found[taken.event] = Prediction(number, taken.variant, sum(chances) / len(chances))
    return list(found.values())


def _answered_by(case: Case, number: int, variant: str) -> Taken | None:
    return next((t for t in case.timeline.evidence() if t.event > number and t.variant == variant), None)


def _chances(case: Case, number: int, event: Predict, taken: Taken) -> list[float]:
    index, chances = case.index, []
    for expectation in event.expect:
        column = index.finding_of[taken.row].get(expectation.finding)
        if column is None:
            known = ", ".join(index.finding_of[taken.row])
            raise TranscriptError(
                f"event {number} (predict): field expect: {expectation.finding!r} is not a finding of {taken.variant}; "
                f"they are {known}",
                event=number, field="expect",
            )  # fmt: skip
        rows = [index.cause_row(cause) for cause in expectation.causes]
        chances += [float(index.p[taken.row, r, column] / index.p[taken.row, r].max()) for r in rows if r is not None]
    return chances
