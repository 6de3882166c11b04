"""A human's marks beside the machine's. The machine's are never changed: both stand, with the reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from grader.scorecard import CriterionScore, Scorecard

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class OverrideError(ValueError):
    """An override of what the scorecard does not hold; the message names what it does."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Override(Frozen):
    """One criterion marked by a person. A criterion that did not apply applies once it is marked."""

    criterion: str
    score: float = Field(ge=0, le=1, allow_inf_nan=False)
    reason: Reason
    by: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class CapLifted(Frozen):
    """The cap on a lucky answer taken off: the person heard the evidence that the log does not hold."""

    reason: Reason
    by: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class MarkPair(Frozen):
    """What the machine gave and what counts. `overrides`: every one made, in order; the last counts."""

    machine: float
    applicable: bool = Field(description="as the machine saw it")
    score: float
    weight: float = Field(description="share of the total with overrides")
    overrides: tuple[Override, ...]


class Overridden(Frozen):
    """A scorecard as it was, with the marks of a person beside it. Totals are 0–1."""

    machine: Scorecard
    marks: dict[str, MarkPair]
    cap_lifted: CapLifted | None
    total: float

    @property
    def machine_total(self) -> float:
        return self.machine.total


def with_overrides(card: Scorecard, overrides: Iterable[Override], cap_lifted: CapLifted | None = None) -> Overridden:
    """The scorecard with these marks beside the machine's. Hints cost what they cost.

    Raises OverrideError for a criterion that the scorecard does not hold, or whose weight it does not know.
    """
    by_criterion: dict[str, list[Override]] = {}
    for one in overrides:
        _refuse(card, one)
        by_criterion.setdefault(one.criterion, []).append(one)
    weights = _weights(card, by_criterion)
    marks = {
        name: MarkPair(
            machine=mark.score, applicable=mark.applicable, weight=weights[name],
            score=by_criterion[name][-1].score if name in by_criterion else mark.score,
            overrides=tuple(by_criterion.get(name, ())),
        )
        for name, mark in card.criteria.items()
    }  # fmt: skip
    total = max(0.0, sum(mark.score * mark.weight for mark in marks.values()) - card.hint_cost)
    capped = total if card.cap is None or cap_lifted else min(total, card.cap)
    return Overridden(machine=card, marks=marks, cap_lifted=cap_lifted, total=capped)


def _refuse(card: Scorecard, one: Override) -> None:
    mark = card.criteria.get(one.criterion)
    if mark is None:
        raise OverrideError(f'"{one.criterion}" is not on this scorecard; it holds {", ".join(card.criteria)}')
    if not mark.applicable and mark.rubric_weight is None:
        raise OverrideError(
            f'"{one.criterion}" did not apply, and this scorecard is too old to say what it weighs; mark another'
        )


def _weights(card: Scorecard, overridden: Mapping[str, list[Override]]) -> dict[str, float]:
    """Shares of the total: as they were, unless a criterion that did not apply was marked."""
    revived = [name for name in overridden if not card.criteria[name].applicable]
    if not revived:
        return {name: mark.weight for name, mark in card.criteria.items()}
    counting = {n: _rubric_weight(m) for n, m in card.criteria.items() if m.applicable or n in overridden}
    whole = sum(counting.values())
    return {name: counting.get(name, 0.0) / whole if whole else 0.0 for name in card.criteria}


def _rubric_weight(mark: CriterionScore) -> float:
    return mark.weight if mark.rubric_weight is None else mark.rubric_weight
