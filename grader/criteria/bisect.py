"""Microbenchmark at the job's size and placement before digging."""

from __future__ import annotations

from grader.criteria.base import Case, Mark, not_applicable, nothing
from grader.index import FABRIC_FAMILIES
from grader.timeline import Taken

DIGGING = ("link", "placement", "overlap", "path")
STRAGGLER_SHOWN = 0.8
LATER, WRONG_THING, UNSETTLED = 0.4, 0.25, 0.6
THE_JOB = {"size": "job", "placement": "as-job"}


def is_the_job(taken: Taken) -> bool:
    """The microbenchmark that repeats what the job does; another is a true reading of the wrong thing."""
    return all(taken.step.with_.get(name, value) == value for name, value in THE_JOB.items())


def credited(case: Case) -> Taken | None:
    """The bisecting step that is exempt from efficiency: the first right one, unless a straggler was shown before."""
    able = [t for t in case.timeline.evidence() if "bisect" in t.step.tells and is_the_job(t)]
    if not able or case.timeline.straggler_share(case.timeline.moment(able[0].event)) >= STRAGGLER_SHOWN:
        return None
    return able[0]


def mark(case: Case) -> Mark:
    """1 before digging, 0.4 after, 0.25 for a microbenchmark of something else.

    Not applicable once a straggler is shown, or the readings already excluded the fabric, or all but it.
    """
    right = [t for t in _microbenchmarks(case) if is_the_job(t)]
    first_dig = next((t for t in case.timeline.evidence() if set(t.step.tells) & set(DIGGING)), None)
    if right and (first_dig is None or right[0].event < first_dig.event):
        return _in_time(case, right)
    pointless = _pointless(case, first_dig)
    if pointless:
        return not_applicable(pointless)
    if right and first_dig:
        late = f"The microbenchmark came at {case.clock(right[0].event)}, after {first_dig.step.title.lower()}"
        return Mark(LATER, f"{late}: you dug before you bisected.", (first_dig.event, right[0].event))
    other = _microbenchmarks(case)
    if other:
        wrong = "The microbenchmark ran at another size or placement than the job: a true reading of the wrong thing."
        return Mark(WRONG_THING, wrong, (other[0].event,))
    return nothing("No microbenchmark at the job’s size and placement split the fabric from the job.")


def _microbenchmarks(case: Case) -> list[Taken]:
    """Readings by the step that can bisect, whatever its parameters."""
    able = {step.step for step in case.index.steps if "bisect" in step.tells}
    return [t for t in case.timeline.evidence() if t.step.step in able]


def _in_time(case: Case, right: list[Taken]) -> Mark:
    settled = next((t for t in right if case.index.is_settled(t.finding)), None)
    if settled is None:
        return Mark(UNSETTLED, "The microbenchmark was the right move, but it stayed inconclusive.", (right[0].event,))
    words = f"{settled.step.title} at {case.clock(settled.event)} split the fabric from the job before any digging."
    return Mark(1.0, words, (settled.event,))


def _pointless(case: Case, first_dig: Taken | None) -> str:
    """Why there was nothing to bisect, by what was in hand before digging, or at the diagnosis where nobody dug."""
    if not case.timeline.evidence():
        return ""
    moment = case.timeline.moment(first_dig.event) if first_dig else case.timeline.judged
    if case.timeline.straggler_share(moment) >= STRAGGLER_SHOWN:
        return "A straggler was shown, so there was nothing to bisect between fabric and job."
    if case.timeline.excludes(moment, FABRIC_FAMILIES):
        return "Your readings had already excluded the fabric, so there was nothing to bisect."
    if case.timeline.excludes(moment, tuple(set(case.index.families) - set(FABRIC_FAMILIES))):
        return "Your readings had already excluded everything but the fabric, so there was nothing to bisect."
    return ""
