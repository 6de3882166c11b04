"""The five dimensions that interviewers use, read from the criteria. Not observed where no event could show one."""

from __future__ import annotations

from collections.abc import Mapping

from grader.criteria.base import Case, Mark
from grader.transcript import Diagnose, Estimate, EventBase, Fix, Prevent, RuleOut, Step, Verdict, Verify

# dimension -> (criteria with their share, kinds of event that could show it)
DIMENSIONS: dict[str, tuple[dict[str, float], tuple[type[EventBase], ...]]] = {
    "correctness": ({"quantify": 0.6, "diagnosis": 0.4}, (Estimate, Verdict, Diagnose)),
    "trade-offs": ({"efficiency": 0.6, "repair": 0.4}, (Step, Fix)),
    "measurement": ({"split": 0.3, "bisect": 0.3, "rule-outs": 0.3, "confirm": 0.1}, (Step,)),
    "reliability": ({"repair": 0.6, "prevention": 0.4}, (Fix, Verify, Prevent)),
    "judgment": ({"rule-outs": 0.5, "efficiency": 0.2, "quantify": 0.3}, (RuleOut, Diagnose, Verdict)),
}
WORDS = ((0.85, "strong"), (0.65, "solid"), (0.4, "mixed"), (0.0, "weak"))


def dimensions(case: Case, marks: Mapping[str, Mark]) -> dict[str, dict]:
    """{dimension: {score: 0–1 or None, word, criteria}}; the word is "not observed" where the score is None."""
    return {name: _dimension(case, marks, *shape) for name, shape in DIMENSIONS.items()}


def _dimension(
    case: Case, marks: Mapping[str, Mark], shares: Mapping[str, float], kinds: tuple[type[EventBase], ...]
) -> dict:
    applicable = {name: share for name, share in shares.items() if name in marks and marks[name].applicable}
    shown = any(isinstance(event, kinds) for event in case.transcript.events[: case.timeline.ends])
    if not shown or not applicable:
        return {"score": None, "word": "not observed", "criteria": list(shares)}
    score = sum(marks[name].score * share for name, share in applicable.items()) / sum(applicable.values())
    return {"score": score, "word": next(w for least, w in WORDS if score >= least), "criteria": list(applicable)}
