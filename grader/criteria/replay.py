"""Steps N+1 to N+k run again from the checkpoint, against a tolerance that was declared before."""

from __future__ import annotations

from pydantic import Field

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, not_applicable, nothing
from grader.timeline import Taken
from grader.transcript import Fix, Step, Success, Verify, variant_id

ROLE = "replay"


class ReplayWords(Words):
    not_offered: str = "This scenario offers no step that replays a resume."
    never: str = "No step was run again from the checkpoint, so nobody knows whether it resumes."
    declared: str = "The steps after the save were replayed at {clock}, against a tolerance that you had declared."
    undeclared: str = "The steps after the save were replayed at {clock}, but no tolerance was declared before."
    before_the_fix: str = "After the repair nobody replayed it again."


class ReplaySettings(Settings):
    """`tolerances`: metrics of a `success` event that count as a tolerance of the replay; none: any does."""

    title: str = "Replay to a tolerance"
    replayed: Share = 0.6
    declared: Share = 0.4
    before_the_fix: Share = Field(default=0.5, description="what is left where only the broken state was replayed")
    tolerances: tuple[str, ...] = ()
    words: ReplayWords = ReplayWords()


def credited(case: Case) -> list[Taken]:
    return [t for t in case.timeline.evidence() if ROLE in t.step.tells][:1]


def mark(case: Case) -> Mark:
    """0.6 a replay, after the last fix where there was one; 0.4 where its tolerance was declared before it."""
    its = case.its(ReplaySettings)
    if not any(ROLE in step.tells for step in case.index.steps):
        return not_applicable(its.words.not_offered)
    replays = _replays(case)
    if not replays:
        return nothing(its.words.never)
    fixed = [number for number, _ in case.timeline.events(Fix)]
    checked = not fixed or replays[-1] > fixed[-1]
    judged = replays[-1] if checked else replays[0]
    declared = any(
        number < judged and (not its.tolerances or event.metric in its.tolerances)
        for number, event in case.timeline.events(Success)
    )
    score = its.replayed * (1.0 if checked else its.before_the_fix) + its.declared * declared
    why = (its.words.declared if declared else its.words.undeclared).format(clock=case.clock(judged))
    why = why if checked else f"{why} {its.words.before_the_fix}"
    return Mark(score / max(its.replayed + its.declared, 1e-9), why, (judged,))


def _replays(case: Case) -> list[int]:
    """Events that replayed: steps, and verifications."""
    made: list[tuple[int, Step | Verify]] = [*case.timeline.events(Step), *case.timeline.events(Verify)]
    rows = {number: case.index.row_of[variant_id(event.step, event.with_)] for number, event in made}
    return sorted(number for number, row in rows.items() if ROLE in case.index.steps[row].tells)


CRITERION = Criterion(
    "replay",
    ReplaySettings,
    mark,
    "Declares a tolerance, replays the steps after the save, and repeats it after the repair.",
    credited,
)
