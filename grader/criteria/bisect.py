"""Microbenchmark at the job's size and placement before digging."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, inside, not_applicable, nothing
from grader.index import FABRIC_FAMILIES
from grader.timeline import Taken

DIGGING = ("link", "placement", "overlap", "path")
THE_JOB = {"size": "job", "placement": "as-job"}


class BisectWords(Words):
    late: str = "The microbenchmark came at {clock}, after {other}: you dug before you bisected."
    wrong_thing: str = (
        "The microbenchmark ran at another size or placement than the job: a true reading of the wrong thing."
    )
    never: str = "No microbenchmark at the job’s size and placement split the fabric from the job."
    unsettled: str = "The microbenchmark was the right move, but it stayed inconclusive."
    first: str = "{step} at {clock} split the fabric from the job before any digging."
    straggler: str = "A straggler was shown, so there was nothing to bisect between fabric and job."
    no_fabric: str = "Your readings had already excluded the fabric, so there was nothing to bisect."
    only_fabric: str = "Your readings had already excluded everything but the fabric, so there was nothing to bisect."


class BisectSettings(Settings):
    title: str = "Bisect"
    straggler_shown: Share = 0.8
    later: Share = 0.4
    wrong_thing: Share = 0.25
    unsettled: Share = 0.6
    words: BisectWords = BisectWords()


def is_the_job(taken: Taken) -> bool:
    """The microbenchmark that repeats what the job does; another is a true reading of the wrong thing."""
    return all(taken.step.with_.get(name, value) == value for name, value in THE_JOB.items())


def credited(case: Case) -> list[Taken]:
    """The bisecting step that is exempt from efficiency: the first right one, unless a straggler was shown before."""
    able = [t for t in case.timeline.evidence() if "bisect" in t.step.tells and is_the_job(t)]
    if not able or _straggler_shown(case, able[0].event):
        return []
    return able[:1]


def mark(case: Case) -> Mark:
    """1 before digging, 0.4 after, 0.25 for a microbenchmark of something else.

    Not applicable once a straggler is shown, or the readings already excluded the fabric, or all but it.
    """
    its = case.its(BisectSettings)
    right = [t for t in _microbenchmarks(case) if is_the_job(t)]
    first_dig = next((t for t in case.timeline.evidence() if set(t.step.tells) & set(DIGGING)), None)
    if right and (first_dig is None or right[0].event < first_dig.event):
        return _in_time(case, right)
    pointless = _pointless(case, first_dig)
    if pointless:
        return not_applicable(pointless)
    if right and first_dig:
        late = its.words.late.format(clock=case.clock(right[0].event), other=inside(first_dig.step.title))
        return Mark(its.later, late, (first_dig.event, right[0].event))
    other = _microbenchmarks(case)
    if other:
        return Mark(its.wrong_thing, its.words.wrong_thing, (other[0].event,))
    return nothing(its.words.never)


def _microbenchmarks(case: Case) -> list[Taken]:
    """Readings by the step that can bisect, whatever its parameters."""
    able = {step.step for step in case.index.steps if "bisect" in step.tells}
    return [t for t in case.timeline.evidence() if t.step.step in able]


def _in_time(case: Case, right: list[Taken]) -> Mark:
    its = case.its(BisectSettings)
    settled = next((t for t in right if case.index.is_settled(t.finding)), None)
    if settled is None:
        return Mark(its.unsettled, its.words.unsettled, (right[0].event,))
    words = its.words.first.format(step=settled.step.title, clock=case.clock(settled.event))
    return Mark(1.0, words, (settled.event,))


def _straggler_shown(case: Case, before: int) -> bool:
    its = case.its(BisectSettings)
    return case.timeline.straggler_share(case.timeline.moment(before)) >= its.straggler_shown


def _pointless(case: Case, first_dig: Taken | None) -> str:
    """Why there was nothing to bisect, by what was in hand before digging, or at the diagnosis where nobody dug."""
    its, line = case.its(BisectSettings), case.timeline
    if not line.evidence():
        return ""
    moment = line.moment(first_dig.event) if first_dig else line.judged
    if line.straggler_share(moment) >= its.straggler_shown:
        return its.words.straggler
    fabric = case.index.of_families(FABRIC_FAMILIES)
    if line.excludes(moment, fabric):
        return its.words.no_fabric
    if line.excludes(moment, ~fabric):
        return its.words.only_fabric
    return ""


CRITERION = Criterion(
    "bisect",
    BisectSettings,
    mark,
    "Runs the collective alone, at the job’s size and on its hosts, before reading a single counter.",
    credited,
)
