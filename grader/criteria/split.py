"""Straggler told from network, by something that can tell, before anything about links."""

from __future__ import annotations

from grader.criteria.base import Case, Mark, not_applicable, nothing
from grader.index import STRAGGLER_FAMILIES
from grader.timeline import Taken

LATER, UNSETTLED = 0.4, 0.5


def credited(case: Case) -> Taken | None:
    """The step that told: the first settled one, else the first that could have told."""
    able = [t for t in case.timeline.evidence() if "straggler" in t.step.tells]
    return next((t for t in able if case.index.is_settled(t.finding)), able[0] if able else None)


def mark(case: Case) -> Mark:
    """1 before any step about links, 0.4 after one; half where the reading stayed inconclusive."""
    if case.timeline.excludes(case.timeline.moments[0], STRAGGLER_FAMILIES):
        return not_applicable("The symptom alone already excluded a straggler.")
    told = credited(case)
    if told is None:
        return nothing("Nothing told a late rank from a slow network; whoever waits in the collective sees the same.")
    link = next((t for t in case.timeline.evidence() if "link" in t.step.tells), None)
    share = 1.0 if case.index.is_settled(told.finding) else UNSETTLED
    words = f"{told.step.title} at {case.clock(told.event)}"
    if link is not None and link.event < told.event:
        after = f"{words}, but only after {link.step.title.lower()} at {case.clock(link.event)}."
        return Mark(LATER * share, after, (link.event, told.event))
    if share < 1:
        return Mark(share, f"{words}: the right question, but the answer stayed inconclusive.", (told.event,))
    return Mark(1.0, f"{words}, before anything about links.", (told.event,))
