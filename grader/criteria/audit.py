"""Recovery audited by itself: by readings of what was saved and restored, never by how fast the job runs."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, not_applicable, nothing
from grader.timeline import Taken
from grader.transcript import Diagnose, RuleOut

RECOVERY = "checkpoint"
FAMILY = "checkpoint"


class AuditWords(Words):
    not_offered: str = "This scenario offers no step that reads what was saved or restored."
    never: str = "Nothing read what was saved or restored; how fast a job runs does not say whether it resumed."
    unsettled: str = "{step} at {clock}: the right question, but the answer stayed inconclusive."
    apart: str = "{step} at {clock} audited recovery by itself."
    mixed: str = "{step} at {clock} audited recovery, but at {mixed_clock} you judged it by readings of performance."


class AuditSettings(Settings):
    title: str = "Recovery by itself"
    audited: Share = 0.6
    apart: Share = 0.4
    unsettled: Share = 0.5
    words: AuditWords = AuditWords()


def credited(case: Case) -> list[Taken]:
    """The step that audited: the first settled one, else the first."""
    able = [t for t in case.timeline.evidence() if RECOVERY in t.step.tells]
    return [next((t for t in able if case.index.is_settled(t.finding)), able[0])] if able else []


def mark(case: Case) -> Mark:
    """0.6 a settled reading of what was saved or restored; 0.4 where no claim about recovery rests on others alone."""
    its = case.its(AuditSettings)
    if not any(RECOVERY in step.tells for step in case.index.steps):
        return not_applicable(its.words.not_offered)
    told = credited(case)
    if not told:
        return nothing(its.words.never)
    said = {"step": told[0].step.title, "clock": case.clock(told[0].event)}
    mixed = _mixed(case)
    settled = case.index.is_settled(told[0].finding)
    score = its.audited * (1.0 if settled else its.unsettled) + its.apart * (mixed is None)
    score /= max(its.audited + its.apart, 1e-9)
    if mixed is not None:
        return Mark(score, its.words.mixed.format(**said, mixed_clock=case.clock(mixed)), (told[0].event, mixed))
    return Mark(score, (its.words.apart if settled else its.words.unsettled).format(**said), (told[0].event,))


def _mixed(case: Case) -> int | None:
    """The first claim about recovery that cites readings, and none of recovery."""
    families = dict(zip(case.index.causes, case.index.families, strict=True))
    made: list[tuple[int, RuleOut | Diagnose]] = [*case.timeline.events(RuleOut), *case.timeline.events(Diagnose)]
    for number, event in sorted(made, key=lambda one: one[0]):
        about = any(families.get(cause) == FAMILY for cause in event.causes)
        cited = case.timeline.cited(event.because, number)
        if about and cited and not any(RECOVERY in t.step.tells for t in cited):
            return number
    return None


CRITERION = Criterion(
    "audit",
    AuditSettings,
    mark,
    "Audits what was saved and restored by itself, and keeps it apart from the question why the job is slow.",
    credited,
)
