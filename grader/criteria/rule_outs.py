"""What was ruled out, against what the candidate's own readings entailed at that moment, with the evidence cited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, inside, listed, nothing, sentence
from grader.criteria.predictions import predictions
from grader.timeline import Taken
from grader.transcript import Restore, RuleOut

Status = Literal["entailed", "not yet", "contradicted"]
Cost = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class RuleOutsWords(Words):
    nothing_entailed: str = "Nothing was ruled out, and no reading in hand would have allowed it."
    never_said: str = "You never said what your readings rule out: {causes} could go."
    one_missed: str = "{causes} could have been ruled out and never was."
    missed: str = "{causes} could have been ruled out and never were."
    late: str = "you said that {cause} was out only after more steps that did not need it."
    one_uncited: str = "{causes} went without the reading that excludes it."
    uncited: str = "{causes} went without the reading that excludes them."
    full: str = "Everything you struck out was excluded by a reading you had, and you named it."
    contradicted: str = "{cause} was struck out at {clock} while your readings spoke for it."
    no_reading: str = "{cause} was struck out at {clock} with no reading that excludes it."
    other_reading: str = "{cause} was struck out by {steps}, which cannot exclude it."
    taken_back: str = "{cause} was struck out at {clock} though no reading excluded it; you noticed and took it back."
    it_was: str = "It was the very cause."


class RuleOutsSettings(Settings):
    title: str = "What it rules out"
    uncited: Share = Field(default=0.6, description="entailed by what was in hand, but not by what was named")
    late: Share = Field(default=0.5, description="said so long after that the steps between were chosen without it")
    late_after_steps: int = Field(
        default=2, ge=0, le=100, description="two steps may be pending at once, so two later ones are still in time"
    )
    not_yet: Cost = 1.0
    contradicted: Cost = 1.5
    taken_back: Share = 0.5
    cause_taken_back: Share = Field(
        default=0.3, description="what is left once the hidden cause was struck out without a reading, and restored"
    )
    cause_kept: Share = Field(default=0.1, description="and where it stayed out")
    raised: float = Field(default=1.5, ge=1, le=10, description="evidence speaks for a cause that it raised so far")
    speaks_from: Share = Field(default=0.4, description="and to this share")
    beta: float = Field(default=0.5, gt=0, le=4, description="of the F measure; below 1 precision weighs more")
    predictions_move: Share = 0.25
    words: RuleOutsWords = RuleOutsWords()


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
    its = case.its(RuleOutsSettings)
    precision, recall = _precision(case, made), _recall(case, made, entailed)
    weight = its.beta**2 * precision + recall
    f_beta = (1 + its.beta**2) * precision * recall / weight if weight else 0.0
    told = predictions(case)
    score = _moved(f_beta * _cause_left(case, made), [p.score for p in told], its.predictions_move)
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
    its = case.its(RuleOutsSettings)
    now, first = case.timeline.moment(number).posterior, case.index.priors[0]
    return bool(now[column] >= its.raised * first[column] and now[column] >= its.speaks_from)


def _is_late(case: Case, number: int, known_since: int) -> bool:
    """More than two further steps were chosen between the first reading that entails it and the claim."""
    later = sum(known_since < t.event < number for t in case.timeline.evidence())
    return later > case.its(RuleOutsSettings).late_after_steps


def _credit(case: Case, claim: Claim) -> float:
    its = case.its(RuleOutsSettings)
    return (1.0 if claim.cites_it else its.uncited) * (its.late if claim.late else 1.0)


def _right(case: Case, made: list[Claim]) -> dict[str, float]:
    """Credit by cause of claims that were entailed when made and stand."""
    best: dict[str, float] = {}
    for claim in made:
        if claim.status == "entailed" and not claim.restored:
            best[claim.cause] = max(best.get(claim.cause, 0.0), _credit(case, claim))
    return best


def _precision(case: Case, made: list[Claim]) -> float:
    its, right = case.its(RuleOutsSettings), _right(case, made)
    costs: dict[Status, float] = {"entailed": 0.0, "not yet": its.not_yet, "contradicted": its.contradicted}
    wrong: dict[str, float] = {}
    for claim in made:
        cost = costs[claim.status] * (its.taken_back if claim.restored else 1.0)
        wrong[claim.cause] = max(wrong.get(claim.cause, 0.0), cost)
    total = len(right) + sum(wrong.values())
    return sum(right.values()) / total if total else 0.0


def _recall(case: Case, made: list[Claim], entailed: tuple[str, ...]) -> float:
    right = _right(case, made)
    return sum(right.get(cause, 0.0) for cause in entailed) / len(entailed) if entailed else 0.0


def _struck_the_cause(case: Case, made: list[Claim]) -> list[Claim]:
    """Claims that threw the hidden cause out though no reading excluded it."""
    return [c for c in made if c.cause in case.truths and c.status != "entailed"]


def _cause_left(case: Case, made: list[Claim]) -> float:
    """What is left of the mark. By the count of claims one such slip among many right ones would pass, and it is the
    one that misleads the search."""
    its, struck = case.its(RuleOutsSettings), _struck_the_cause(case, made)
    return min((its.cause_taken_back if c.restored else its.cause_kept for c in struck), default=1.0)


def _moved(score: float, told: list[float], most: float) -> float:
    """Predictions move it by up to `most` of what is missing."""
    if not told:
        return score
    lean = 2 * sum(told) / len(told) - 1
    return min(max(score + most * (1 - score) * lean, 0.0), 1.0)


def _never(case: Case, entailed: tuple[str, ...]) -> str:
    words = case.its(RuleOutsSettings).words
    if not entailed:
        return words.nothing_entailed
    return words.never_said.format(causes=listed([case.title(c) for c in entailed]))


def _words(case: Case, made: list[Claim], entailed: tuple[str, ...]) -> str:
    words, right = case.its(RuleOutsSettings).words, _right(case, made)
    parts: list[str] = []
    struck = _struck_the_cause(case, made)
    wrong = min((c for c in made if c.status != "entailed"), key=lambda c: (c not in struck, c.restored), default=None)
    if wrong is not None:
        parts += [_wrong_words(case, wrong), *([words.it_was] if wrong in struck else [])]
    claimed = {c.cause for c in made if not c.restored}
    missed = [case.title(c) for c in entailed if c not in claimed]
    if missed:
        shown = [*missed[:3], f"{len(missed) - 3} more"] if len(missed) > 4 else missed
        parts.append(sentence(words.one_missed if len(missed) == 1 else words.missed, causes=listed(shown)))
    late = [c.cause for c in made if c.late and c.cause in right and right[c.cause] < 1]
    if late:
        parts.append(sentence(words.late, cause=case.title(late[0])))
    uncited = [case.title(c) for c, credit in right.items() if credit < 1]
    if uncited and not parts:
        parts.append(sentence(words.one_uncited if len(uncited) == 1 else words.uncited, causes=listed(uncited)))
    return " ".join(parts) or words.full


def _wrong_words(case: Case, claim: Claim) -> str:
    words = case.its(RuleOutsSettings).words
    named = {"cause": case.title(claim.cause), "clock": case.clock(claim.event)}
    if claim.restored:
        return sentence(words.taken_back, **named)
    if claim.status == "contradicted":
        return sentence(words.contradicted, **named)
    if not claim.cited:
        return sentence(words.no_reading, **named)
    steps = [inside(case.index.steps[case.index.row_of[variant]].title) for variant in claim.cited[:2]]
    return sentence(words.other_reading, cause=named["cause"], steps=listed(steps))


CRITERION = Criterion(
    "rule-outs",
    RuleOutsSettings,
    mark,
    "Says after each reading what it excludes and what it leaves, names the reading, and strikes out nothing else.",
)
