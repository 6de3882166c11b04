"""The five dimensions that interviewers use, read from the criteria. Not observed where no event could show one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grader.criteria.base import Case, Mark
from grader.scorecard import Dimension
from grader.transcript import Diagnose, Estimate, EventBase, Fix, Prevent, RuleOut, Step, Verdict, Verify

DimensionName = Literal["correctness", "trade-offs", "measurement", "reliability", "judgment"]

# Kinds of event that could show a dimension at all.
SHOWN_BY: dict[DimensionName, tuple[type[EventBase], ...]] = {
    "correctness": (Estimate, Verdict, Diagnose),
    "trade-offs": (Step, Fix),
    "measurement": (Step,),
    "reliability": (Fix, Verify, Prevent),
    "judgment": (RuleOut, Diagnose, Verdict),
}
WORDS = ((0.85, "strong"), (0.65, "solid"), (0.4, "mixed"), (0.0, "weak"))


def dimensions(
    case: Case, marks: Mapping[str, Mark], shares: Mapping[DimensionName, Mapping[str, float]]
) -> dict[str, Dimension]:
    """Each of the five, by the rubric's shares of criteria in it."""
    return {name: _dimension(case, marks, shares.get(name, {}), kinds) for name, kinds in SHOWN_BY.items()}


def _dimension(
    case: Case, marks: Mapping[str, Mark], shares: Mapping[str, float], kinds: tuple[type[EventBase], ...]
) -> Dimension:
    applicable = {name: share for name, share in shares.items() if name in marks and marks[name].applicable}
    shown = any(isinstance(event, kinds) for event in case.transcript.events[: case.timeline.ends])
    if not shown or not sum(applicable.values()):
        return Dimension(score=None, word="not observed", criteria=tuple(shares))
    score = sum(marks[name].score * share for name, share in applicable.items()) / sum(applicable.values())
    word = next(word for least, word in WORDS if score >= least)
    return Dimension(score=score, word=word, criteria=tuple(applicable))
