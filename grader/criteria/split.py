"""Straggler told from network, by something that can tell, before anything about links."""

from __future__ import annotations

import numpy as np

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
    if _ruled_out_by_symptom(case):
        return not_applicable("The symptom alone already excluded a straggler.")
    told = credited(case)
    if told is None:
        return nothing(
            "Nothing told a late rank from a slow network: to everyone waiting in the collective they look the same."
        )
    link = next((t for t in case.timeline.evidence() if "link" in t.step.tells), None)
    settled = case.index.is_settled(told.finding)
    words = f"{told.step.title} of every rank at {case.clock(told.event)}"
    if link is not None and link.event < told.event:
        return Mark(LATER * (1 if settled else UNSETTLED), f"{words}, but only after {link.step.title.lower()} at {case.clock(link.event)}.", (link.event, told.event))  # fmt: skip
    if not settled:
        return Mark(UNSETTLED, f"{words} was the right question, but it stayed inconclusive and nothing else settled it.", (told.event,))  # fmt: skip
    return Mark(1.0, f"{words}, before anything about links.", (told.event,))


def _ruled_out_by_symptom(case: Case) -> bool:
    stragglers = np.array([family in STRAGGLER_FAMILIES for family in case.index.families])
    return bool(stragglers.any() and case.timeline.moments[0].belief.out[stragglers].all())
