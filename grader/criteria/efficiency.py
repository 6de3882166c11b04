"""Expected minutes of the best search to the certainty reached, over the minutes spent."""

from __future__ import annotations

from pydantic import Field

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, clamp, not_applicable, nothing
from grader.criteria.diagnosis import support
from grader.policy import ENOUGH_CERTAINTY, expected_minutes
from grader.timeline import Taken

IDLE_BITS = 0.05


class EfficiencyWords(Words):
    never: str = "No step brought evidence, so no minute bought anything."
    settled: str = "The symptom alone settled it, so there was little left to buy."
    no_further: str = "The minutes spent did not carry what you named any further than the symptom did."
    spent: str = "You spent {spent} priced minutes; the best search for this cause expects {best}."
    not_charged: str = "{exempt} of yours are not charged: steps that other criteria ask for, and one confirmation."
    idle: str = "{step} told you nothing new by then."
    least: str = "{step} was worth {bits} bit by then."


class EfficiencySettings(Settings):
    title: str = "Information a minute"
    free: float = Field(default=1.5, ge=1, le=10, description="times the best search's expected minutes")
    least_learnt: Share = 0.05
    words: EfficiencyWords = EfficiencyWords()


def mark(case: Case) -> Mark:
    """1 up to 1.5 times the best search's expected minutes, then in proportion. Exempt: the steps that other criteria
    of the rubric credit, and one confirmation. The certainty reached is that of what was named (without a diagnosis, of
    the best-supported cause); the best search needs no more than 0.95."""
    its = case.its(EfficiencySettings)
    if not case.timeline.evidence():
        return nothing(its.words.never)
    start = float(case.timeline.moments[0].posterior[:-1].max())
    if start >= ENOUGH_CERTAINTY - its.least_learnt:
        return not_applicable(its.words.settled)
    reached = _reached(case)
    if reached < start + its.least_learnt:
        return Mark(0.0, its.words.no_further, tuple(t.event for t in _charged(case)))
    spent = sum(t.minutes for t in case.timeline.taken if not t.after_fix)
    charged = sum(t.minutes for t in _charged(case))
    best = _best(case, reached)
    score = clamp(its.free * best / charged) if charged > 0 else 1.0
    return Mark(score, _words(case, spent, charged, best), tuple(t.event for t in _charged(case)))


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
    exempt = {t.event for criterion in case.criteria.values() for t in criterion.credited(case)}
    exempt |= {t.event for t in _confirmation(case)}
    return [t for t in case.timeline.taken if not t.after_fix and t.event not in exempt]


def _confirmation(case: Case) -> list[Taken]:
    """The first step taken when some cause had already reached enough certainty."""
    sure = (
        t for t in case.timeline.evidence() if case.timeline.moment(t.event).posterior[:-1].max() >= ENOUGH_CERTAINTY
    )
    return [first] if (first := next(sure, None)) else []


def _words(case: Case, spent: float, charged: float, best: float) -> str:
    """What is not charged is said only where the two figures alone would not explain the mark."""
    its = case.its(EfficiencySettings)
    words = its.words
    said = words.spent.format(spent=f"{spent:.0f}", best=f"{best:.0f}")
    if charged < spent and spent > its.free * best:
        said = f"{said} {words.not_charged.format(exempt=f'{spent - charged:.0f}')}"
    idle = min((t for t in _charged(case)), key=lambda t: (t.gain_bits / max(t.minutes, 0.5), t.event), default=None)
    if charged <= its.free * best or idle is None:
        return said
    told = words.idle if idle.gain_bits < IDLE_BITS else words.least
    named = {"bits": f"{idle.gain_bits:.1f}"} if told == words.least else {}
    return f"{said} {told.format(step=idle.step.title, **named)}"


CRITERION = Criterion(
    "efficiency",
    EfficiencySettings,
    mark,
    "Takes at each moment the step that splits what is left best for its minutes, and stops once it is sure.",
)
