"""Whether all that was restored is of one generation: asked before anything is repaired."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, not_applicable, nothing
from grader.timeline import Taken

ROLE = "generation"


class GenerationWords(Words):
    not_offered: str = "This scenario offers no step that tells generations apart."
    never: str = "Nothing showed that every shard is of one generation; a mixture loads without a word."
    unsettled: str = "{step} at {clock}: the right question, but the answer stayed inconclusive."
    checked: str = "{step} at {clock} showed whether every shard is of one generation."


class GenerationSettings(Settings):
    title: str = "One generation"
    unsettled: Share = 0.5
    words: GenerationWords = GenerationWords()


def credited(case: Case) -> list[Taken]:
    able = [t for t in case.timeline.evidence() if ROLE in t.step.tells]
    return [next((t for t in able if case.index.is_settled(t.finding)), able[0])] if able else []


def mark(case: Case) -> Mark:
    """1 for a settled reading while it still told about the incident; half where it stayed inconclusive."""
    its = case.its(GenerationSettings)
    if not any(ROLE in step.tells for step in case.index.steps):
        return not_applicable(its.words.not_offered)
    told = credited(case)
    if not told:
        return nothing(its.words.never)
    settled = case.index.is_settled(told[0].finding)
    words = its.words.checked if settled else its.words.unsettled
    why = words.format(step=told[0].step.title, clock=case.clock(told[0].event))
    return Mark(1.0 if settled else its.unsettled, why, (told[0].event,))


CRITERION = Criterion(
    "generation",
    GenerationSettings,
    mark,
    "Checks that every shard is of one complete generation before trusting anything that was loaded from it.",
    credited,
)
