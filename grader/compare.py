"""The same attempt under two rubrics: by how much its total changes, and because of which criterion. Pure."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from grader.scorecard import Scorecard

LEAST_SHOWN = 0.0005
HINTS, CAP = "hints", "cap"


class Change(BaseModel):
    """Totals before and after; `because` sums to the difference, the largest part first. Parts are criteria, and
    `hints` and `cap` where what they take changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    before: float
    after: float
    because: dict[str, float]

    @property
    def by(self) -> float:
        return self.after - self.before


def change(before: Scorecard, after: Scorecard) -> Change:
    """What made the difference between two scorecards of one attempt."""
    parts = {name: earned(after, name) - earned(before, name) for name in {**before.criteria, **after.criteria}}
    parts[HINTS] = held_back(before) - held_back(after)
    parts[CAP] = capped_off(before) - capped_off(after)
    shown = {name: part for name, part in parts.items() if abs(part) >= LEAST_SHOWN}
    return Change(
        before=before.total,
        after=after.total,
        because=dict(sorted(shown.items(), key=lambda one: (-abs(one[1]), one[0]))),
    )


def earned(card: Scorecard, criterion: str) -> float:
    """What a criterion adds to the total before hints; 0 where the rubric does not weigh it."""
    one = card.criteria.get(criterion)
    return one.score * one.weight if one else 0.0


def held_back(card: Scorecard) -> float:
    """What hints took: never more than there was."""
    return min(card.hint_cost, card.before_hints)


def capped_off(card: Scorecard) -> float:
    return max(0.0, card.before_hints - card.hint_cost) - card.total
