"""What a checkpoint holds and costs, worked out before anything is measured: bytes, seconds, steps, work at stake."""

from __future__ import annotations

from grader.criteria.base import Case, Criterion, Mark, Words, not_applicable, nothing
from grader.criteria.estimates import EstimateSettings, Judged, can_be_judged, first_of_each, timing
from grader.units import format_quantity


class ArithmeticWords(Words):
    not_asked: str = "This scenario asks for no number."
    never: str = "Nothing was worked out, so no reading had a number to be held against."
    count: str = "Right: {right} of the {asked} numbers asked for, {when}."
    wrong: str = "{given} was said for {quantity}, and {accepted} is right."
    first: str = "before any measurement"
    late: str = "some only after the first move"


class ArithmeticSettings(EstimateSettings):
    title: str = "Arithmetic first"
    words: ArithmeticWords = ArithmeticWords()


def mark(case: Case) -> Mark:
    """Each quantity that is asked for counts alike, at the scale where it was worked out best and soonest.

    Accuracy: free to 10 %, nothing left at a factor of two. What comes after the first move has steered less.
    """
    its = case.its(ArithmeticSettings)
    asked = {known.quantity for known in case.index.knowledge.estimates if can_be_judged(case, known)}
    if not asked:
        return not_applicable(its.words.not_asked)
    judged = first_of_each(case, its)
    if not judged:
        return nothing(its.words.never)
    best = {name: max(of_it, key=lambda one: _worth(case, one)) for name, of_it in _by_quantity(judged).items()}
    score = sum(_worth(case, one) for one in best.values()) / len(asked)
    return Mark(score, _words(case, best, len(asked)), tuple(sorted(one.event for one in best.values())))


def _by_quantity(judged: list[Judged]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.known.quantity, []).append(one)
    return found


def _worth(case: Case, one: Judged) -> float:
    return one.accuracy * timing(case, case.its(ArithmeticSettings), one.event)


def _words(case: Case, best: dict[str, Judged], asked: int) -> str:
    """How many were right and when, and the worst of those that were not."""
    its = case.its(ArithmeticSettings)
    right = [one for one in best.values() if one.accuracy >= 1]
    soon = all(timing(case, its, one.event) == 1 for one in best.values())
    said = its.words.count.format(right=len(right), asked=asked, when=its.words.first if soon else its.words.late)
    worst = min(best.values(), key=lambda one: (one.accuracy, one.event))
    if worst.accuracy >= 1:
        return said
    kind = worst.known.kind
    wrong = its.words.wrong.format(
        given=format_quantity(worst.given, kind),
        quantity=worst.known.quantity.replace("-", " "),
        accepted=format_quantity(worst.accepted, kind),
    )
    return f"{said} {wrong}"


CRITERION = Criterion(
    "arithmetic",
    ArithmeticSettings,
    mark,
    "Works out the bytes, their least time and the work at stake before opening a tool, and holds readings to them.",
)
