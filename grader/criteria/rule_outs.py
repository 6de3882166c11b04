"""What was ruled out, against what the candidate's own readings entailed at that moment, with the evidence cited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from grader.criteria.base import Case, Mark, listed, nothing
from grader.criteria.predictions import predictions
from grader.timeline import Taken
from grader.transcript import Restore, RuleOut

Status = Literal["entailed", "not yet", "contradicted"]
UNCITED = 0.6  # entailed by what was in hand, but not by what was named as the reason
LATE = 0.5  # said so long after the reading that the steps between were chosen without it
LATE_AFTER_STEPS = 2  # two steps may be pending at once, so two later ones are still in time
COST: dict[Status, float] = {"entailed": 0.0, "not yet": 1.0, "contradicted": 1.5}
TAKEN_BACK = 0.5
RAISED, SPEAKS_FROM = 1.5, 0.4  # evidence speaks for a cause once it raised it by half and to this share
BETA_SQUARED = 0.25  # F0.5: precision weighs more than recall
PREDICTIONS_MOVE = 0.25


@dataclass(frozen=True)
class Claim:
    """One cause struck out at one event. `excluded_by`: steps in hand that entail it; `cited`: the reasons given."""

    event: int
    cause: str
    status: Status
    cited: tuple[str, ...]
    excluded_by: tuple[str, ...]
    cites_it: bool
    late: bool
    restored: bool = False


def claims(case: Case) -> list[Claim]:
    """Every claim before the close and within the budget, in order; families count as all their causes."""
    found: list[Claim] = []
    for number, event in enumerate(case.transcript.events[: min(case.timeline.ends, case.timeline.budget_ends)]):
        if isinstance(event, RuleOut):
            found += list(_claims_of(case, number, event))
        elif isinstance(event, Restore):
            found = [replace(c, restored=True) if c.cause in event.causes else c for c in found]
    return found


def mark(case: Case) -> Mark:
    """F0.5 of the claims against the entailed eliminations; predictions move it by up to a quarter of the rest."""
    made = claims(case)
    entailed = case.timeline.last.belief.entailed()
    precision, recall = _precision(made), _recall(made, entailed)
    weight = BETA_SQUARED * precision + recall
    f_half = (1 + BETA_SQUARED) * precision * recall / weight if weight else 0.0
    told = predictions(case)
    score = _moved(f_half, [p.score for p in told])
    events = tuple(sorted({c.event for c in made} | {p.event for p in told}))
    if not made and not told:
        return nothing(_never(case, entailed))
    return Mark(score, _words(case, made, entailed), events)


def _claims_of(case: Case, number: int, event: RuleOut) -> Iterator[Claim]:
    named = [c for c in event.causes if c in case.index.causes]
    by_family = [
        c for c, family in zip(case.index.causes, case.index.families, strict=True) if family in event.families
    ]
    moment = case.timeline.moment(number)
    in_hand = [t for t in case.timeline.evidence() if t.event < number]
    cited = case.timeline.cited(event.because, number)
    for cause in dict.fromkeys([*named, *by_family]):
        column = case.index.causes.index(cause)
        because = [t for t in in_hand if _excludes(case, t, column)]
        by_symptom = bool(case.timeline.moments[0].belief.out[column])
        status: Status = "entailed" if moment.belief.out[column] else "not yet"
        if status == "not yet" and _speaks_for(case, number, column):
            status = "contradicted"
        yield Claim(
            number, cause, status, tuple(t.variant for t in cited),
            (*(["symptom"] if by_symptom else []), *(t.variant for t in because)),
            # Everybody has the symptom from the start: what it excludes needs no reason given, and is never late.
            cites_it=by_symptom or any(t in cited for t in because),
            late=not by_symptom and bool(because) and _is_late(case, number, because[0].event),
        )  # fmt: skip


def _excludes(case: Case, taken: Taken, column: int) -> bool:
    return bool(case.index.excluded[taken.row, case.index.finding_of[taken.row][taken.finding], column])


def _speaks_for(case: Case, number: int, column: int) -> bool:
    """The evidence in hand raised this cause, and made it a leading one."""
    now, first = case.timeline.moment(number).posterior, case.index.priors[0]
    return bool(now[column] >= RAISED * first[column] and now[column] >= SPEAKS_FROM)


def _is_late(case: Case, number: int, known_since: int) -> bool:
    """More than two further steps were chosen between the first reading that entails it and the claim."""
    return sum(known_since < t.event < number for t in case.timeline.evidence()) > LATE_AFTER_STEPS


def _credit(claim: Claim) -> float:
    return (1.0 if claim.cites_it else UNCITED) * (LATE if claim.late else 1.0)


def _right(made: list[Claim]) -> dict[str, float]:
    """Credit by cause of claims that were entailed when made and stand."""
    best: dict[str, float] = {}
    for claim in made:
        if claim.status == "entailed" and not claim.restored:
            best[claim.cause] = max(best.get(claim.cause, 0.0), _credit(claim))
    return best


def _precision(made: list[Claim]) -> float:
    right = _right(made)
    wrong: dict[str, float] = {}
    for claim in made:
        cost = COST[claim.status] * (TAKEN_BACK if claim.restored else 1.0)
        wrong[claim.cause] = max(wrong.get(claim.cause, 0.0), cost)
    total = len(right) + sum(wrong.values())
    return sum(right.values()) / total if total else 0.0


def _recall(made: list[Claim], entailed: tuple[str, ...]) -> float:
    right = _right(made)
    return sum(right.get(cause, 0.0) for cause in entailed) / len(entailed) if entailed else 0.0


def _moved(score: float, told: list[float]) -> float:
    if not told:
        return score
    lean = 2 * sum(told) / len(told) - 1
    return min(max(score + PREDICTIONS_MOVE * (1 - score) * lean, 0.0), 1.0)


def _never(case: Case, entailed: tuple[str, ...]) -> str:
    if not entailed:
        return "Nothing was ruled out, and no reading in hand would have allowed it."
    return f"You never said what your readings rule out: {listed([case.title(c) for c in entailed])} could go."


def _words(case: Case, made: list[Claim], entailed: tuple[str, ...]) -> str:
    right = _right(made)
    parts: list[str] = []
    wrong = next((c for c in made if c.status != "entailed" and not c.restored), None)
    if wrong is not None:
        parts.append(_wrong_words(case, wrong))
    claimed = {c.cause for c in made if not c.restored}
    missed = [case.title(c) for c in entailed if c not in claimed]
    if missed:
        shown = [*missed[:3], f"{len(missed) - 3} more"] if len(missed) > 4 else missed
        parts.append(f"{listed(shown)} could have been ruled out and never {'was' if len(missed) == 1 else 'were'}.")
    late = [c.cause for c in made if c.late and c.cause in right and right[c.cause] < 1]
    if late:
        parts.append(f"You said that {case.title(late[0])} was out only after more steps that did not need it.")
    uncited = [case.title(c) for c, credit in right.items() if credit < 1]
    if uncited and not parts:
        parts.append(
            f"{listed(uncited)} went without the reading that excludes {'it' if len(uncited) == 1 else 'them'}."
        )
    if not parts:
        return "Everything you struck out was excluded by a reading you had, and you named it."
    return " ".join(part[0].upper() + part[1:] for part in parts)


def _wrong_words(case: Case, claim: Claim) -> str:
    title = case.title(claim.cause)
    if claim.status == "contradicted":
        return f"{title} was struck out at {case.clock(claim.event)} while your readings spoke for it."
    if not claim.cited:
        return f"{title} was struck out at {case.clock(claim.event)} with no reading that excludes it."
    steps = [case.index.steps[case.index.row_of[variant]].title for variant in claim.cited[:2]]
    return f"{title} was struck out by {listed(steps)}, which cannot exclude it."
