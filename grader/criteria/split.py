"""Straggler told from network, by something that can tell, before anything about links."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, inside, not_applicable, nothing
from grader.timeline import Taken


class SplitWords(Words):
    excluded: str = "The symptom alone already excluded a straggler."
    never: str = "Nothing told a late rank from a slow network; whoever waits in the collective sees the same."
    late: str = "{step} at {clock}, but only after {other} at {other_clock}."
    second: str = "{step} at {clock}, but the job was stopped for {other} before."
    unsettled: str = "{step} at {clock}: the right question, but the answer stayed inconclusive."
    first: str = "{step} at {clock}, before anything about links."


class SplitSettings(Settings):
    title: str = "Straggler or network"
    later: Share = 0.4
    after_the_bisection: Share = 0.8
    unsettled: Share = 0.5
    words: SplitWords = SplitWords()


def credited(case: Case) -> list[Taken]:
    """The step that told: the first settled one, else the first that could have told."""
    able = [t for t in case.timeline.evidence() if "straggler" in t.step.tells]
    return [next((t for t in able if case.index.is_settled(t.finding)), able[0])] if able else []


def mark(case: Case) -> Mark:
    """1 before any step about links; 0.8 after the one that bisects, which stops the job; 0.4 after one about links.
    Half where the reading stayed inconclusive."""
    its = case.its(SplitSettings)
    if case.timeline.excludes(case.timeline.moments[0], case.index.late_ranks):
        return not_applicable(its.words.excluded)
    told = credited(case)
    if not told:
        return nothing(its.words.never)
    share = 1.0 if case.index.is_settled(told[0].finding) else its.unsettled
    asked_at = next(t.event for t in case.timeline.evidence() if "straggler" in t.step.tells)
    for role, before, worth, words in (
        ("link", told[0].event, its.later, its.words.late),
        ("bisect", asked_at, its.after_the_bisection, its.words.second),
    ):
        other = _first(case, role, before)
        if other is not None:
            return Mark(worth * share, _words(case, words, told[0], other), (other.event, told[0].event))
    return Mark(share, _words(case, its.words.first if share == 1 else its.words.unsettled, told[0]), (told[0].event,))


def _first(case: Case, role: str, before: int) -> Taken | None:
    """The first step of another role before an event that cannot itself tell a straggler."""
    earlier = (t for t in case.timeline.evidence() if t.event < before and role in t.step.tells)
    return next((t for t in earlier if "straggler" not in t.step.tells), None)


def _words(case: Case, template: str, told: Taken, other: Taken | None = None) -> str:
    named = {"other": inside(other.step.title), "other_clock": case.clock(other.event)} if other else {}
    return template.format(step=told.step.title, clock=case.clock(told.event), **named)


CRITERION = Criterion(
    "split",
    SplitSettings,
    mark,
    "Asks for step phases or arrivals by rank before anything about the network, since whoever waits looks slow.",
    credited,
)
