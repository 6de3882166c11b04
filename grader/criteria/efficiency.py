"""Expected minutes of the best search to the certainty reached, over the minutes spent."""

from __future__ import annotations

from grader.criteria import bisect, confirm, split
from grader.criteria.base import Case, Mark, clamp, not_applicable, nothing
from grader.criteria.diagnosis import support
from grader.policy import ENOUGH_CERTAINTY, expected_minutes
from grader.timeline import Taken

FREE = 1.5
LEAST_LEARNT = 0.05


def mark(case: Case) -> Mark:
    """1 up to 1.5 times the best search's expected minutes, then in proportion. Exempt: the steps that split, bisect
    and confirm credit, and one confirmation. The certainty reached is that of what was named (without a diagnosis, of
    the best-supported cause); the best search needs no more than 0.95."""
    if not case.timeline.evidence():
        return nothing("No step brought evidence, so no minute bought anything.")
    start = float(case.timeline.moments[0].posterior[:-1].max())
    if start >= ENOUGH_CERTAINTY - LEAST_LEARNT:
        return not_applicable("The symptom alone settled it, so there was little left to buy.")
    reached = _reached(case)
    if reached < start + LEAST_LEARNT:
        return nothing("The minutes spent did not carry what you named any further than the symptom did.")
    spent = sum(t.minutes for t in case.timeline.taken if not t.after_fix)
    charged = sum(t.minutes for t in _charged(case))
    best = _best(case, reached)
    score = clamp(FREE * best / charged) if charged > 0 else 1.0
    return Mark(score, _words(case, spent, best, score), tuple(t.event for t in _charged(case)))


def _reached(case: Case) -> float:
    held = support(case)
    return held.mass if held else float(case.timeline.last.posterior[:-1].max())


def _best(case: Case, reached: float) -> float:
    """Under the hidden cause; without one, averaged over the causes as believed."""
    index, symptom = case.index, case.timeline.symptom
    target = min(reached, ENOUGH_CERTAINTY)
    if case.truths:
        return expected_minutes(index, symptom, case.truths[0], target)
    weights = case.timeline.judged.posterior[:-1]
    each = [expected_minutes(index, symptom, cause, target) for cause in index.causes]
    return float(sum(w * m for w, m in zip(weights, each, strict=True)) / weights.sum())


def _charged(case: Case) -> list[Taken]:
    exempt = {t.event for t in (split.credited(case), bisect.credited(case)) if t is not None}
    exempt |= {t.event for t in confirm.credited(case)}
    exempt |= {t.event for t in _confirmation(case)}
    return [t for t in case.timeline.taken if not t.after_fix and t.event not in exempt]


def _confirmation(case: Case) -> list[Taken]:
    """The first step taken when some cause had already reached enough certainty."""
    sure = (
        t for t in case.timeline.evidence() if case.timeline.moment(t.event).posterior[:-1].max() >= ENOUGH_CERTAINTY
    )
    return [first] if (first := next(sure, None)) else []


def _words(case: Case, spent: float, best: float, score: float) -> str:
    said = f"You spent {spent:.0f} priced minutes; the best search for this cause expects {best:.0f}."
    idle = min((t for t in _charged(case)), key=lambda t: (t.gain_bits / max(t.minutes, 0.5), t.event), default=None)
    if score >= 1 or idle is None:
        return said
    told = "told you nothing new by then" if idle.gain_bits < 0.05 else f"was worth {idle.gain_bits:.1f} bit by then"
    return f"{said} {idle.step.title} {told}."
