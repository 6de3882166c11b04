"""Floor first, right, and used for a verdict."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Share, Words, clamp, nothing
from grader.criteria.estimates import EstimateSettings, Judged, can_be_judged, first_of_each, timing
from grader.knowledge import INCONCLUSIVE
from grader.transcript import Verdict
from grader.units import format_quantity

FLOOR = "collective-floor"
SIDES = ("at-floor", "below-floor")


class QuantifyWords(Words):
    never: str = "No floor was estimated, so nothing could tell a fault from physics."
    right: str = "{given} {when}, right to {off} %."
    wrong: str = "{given} {when}, but the floor is {accepted}."
    first: str = "before any measurement"
    late: str = "only after the first move"
    last: str = "only once everything had been measured, where it could steer nothing"
    no_verdict: str = "No verdict was drawn from it, so the arithmetic decided nothing."
    early_verdict: str = "The verdict came before it, so the arithmetic decided nothing."
    either: str = "You said {said}; the measured collective lies between, so either may be said."
    agrees: str = "You said {said}, as the measured collective was."
    differs: str = "You said {said}, but the measured collective was {right}."


class QuantifySettings(EstimateSettings):
    title: str = "Floor first"
    floor: Share = 0.5
    verdict: Share = 0.3
    working: Share = 0.2
    words: QuantifyWords = QuantifyWords()


def mark(case: Case) -> Mark:
    """0.5 the floor; 0.3 a right verdict that follows it; 0.2 the working beside it (bytes or fraction of the floor).

    Accuracy: free to 10 %, nothing left at a factor of two. All of it fades with what was done before the floor.
    """
    its = case.its(QuantifySettings)
    judged = first_of_each(case, its)
    floors = [j for j in judged if j.known.quantity == FLOOR]
    if not floors:
        return nothing(its.words.never)
    floor = max(floors, key=lambda j: (j.accuracy * timing(case, its, j.event), -j.event))
    verdict, verdict_event, said = _verdict(case, min(j.event for j in floors))
    working = [j for j in judged if j.known.quantity != FLOOR]
    shares = [(its.floor, floor.accuracy), (its.verdict, verdict)]
    if _can_show_working(case):
        shares.append((its.working, max((j.accuracy for j in working), default=0.0)))
    soon = timing(case, its, floor.event)
    score = soon * sum(share * part for share, part in shares) / max(sum(share for share, _ in shares), 1e-9)
    events = sorted({floor.event, *(j.event for j in working), *([verdict_event] if verdict_event is not None else [])})
    return Mark(clamp(score), f"{_floor_words(case, floor, soon)} {said}", tuple(events))


def _can_show_working(case: Case) -> bool:
    return any(can_be_judged(case, known) for known in case.index.knowledge.estimates if known.quantity != FLOOR)


def _verdict(case: Case, floor_event: int) -> tuple[float, int | None, str]:
    """Share earned, the event, and what to say. The first verdict after the floor counts."""
    words = case.its(QuantifySettings).words
    made = case.timeline.events(Verdict)
    after = next(((i, v) for i, v in made if i > floor_event), None)
    if after is None:
        return 0.0, made[0][0] if made else None, words.early_verdict if made else words.no_verdict
    number, verdict = after
    said, right = verdict.collective.replace("-", " "), _right_verdict(case)
    if right is None:
        return 1.0, number, words.either.format(said=said)
    if verdict.collective == right:
        return 1.0, number, words.agrees.format(said=said)
    return 0.0, number, words.differs.format(said=said, right=right.replace("-", " "))


def _right_verdict(case: Case) -> str | None:
    """By the measured fraction of the floor, else by the symptom's finding. None: either may be said.

    A symptom that is about something else leaves nothing open here, however little it tells of that.
    """
    if case.timeline.symptom == INCONCLUSIVE and _symptom_is_about_the_floor(case):
        return None
    fractions = [v for name, v in case.transcript.truths.items() if name.split(":")[0] == "fraction-of-floor"]
    if fractions:
        return "at-floor" if fractions[0] >= case.index.knowledge.at_floor_from else "below-floor"
    symptom = case.timeline.symptom or ""
    return next((side for side in SIDES if symptom.endswith(side)), None)


def _symptom_is_about_the_floor(case: Case) -> bool:
    return any(finding.endswith(SIDES) for finding in case.index.finding_of[case.index.symptom_row])


def _floor_words(case: Case, floor: Judged, soon: float) -> str:
    words = case.its(QuantifySettings).words
    when = words.first if soon == 1 else words.late if soon else words.last
    given = format_quantity(floor.given, "time")
    if floor.accuracy >= 1:
        off = max(1, round(abs(floor.given / floor.accepted - 1) * 100))
        return words.right.format(given=given, when=when, off=off)
    return words.wrong.format(given=given, when=when, accepted=format_quantity(floor.accepted, "time"))


CRITERION = Criterion(
    "quantify",
    QuantifySettings,
    mark,
    "Computes the floor before opening a tool, says at or below it, and holds every later number against it.",
)
