"""Family, cause and place apart, judged by the candidate's own evidence; confidence against its posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.criteria.base import Case, Mark, clamp, listed, nothing
from grader.transcript import Diagnose, Fix

FAMILY_SHARE, CAUSE_SHARE, PLACE_SHARE = 0.25, 0.5, 0.25
WITHIN = 2.0  # full marks within 2 : 1 of the best-supported cause
PRICE_OF_SIZE = 0.1
CONFIDENCE_FREE, CONFIDENCE_COST = 0.15, 0.5
NO_CONFIDENCE_GIVEN = 0.9
AFTER_A_FIX = 0.7  # a diagnosis changed after trying a fix is worth less each time


@dataclass(frozen=True)
class Support:
    """How the evidence in hand at the diagnosis stands to what was named."""

    named: tuple[str, ...]
    mass: float
    top: float
    first_mass: float
    right: bool
    steps: int


def support(case: Case) -> Support | None:
    """None without a diagnosis. `first_mass`: the share that the named causes had after the symptom alone."""
    if case.timeline.diagnosis is None:
        return None
    number, diagnose = case.timeline.diagnosis
    rows = [r for r in (case.index.cause_row(cause) for cause in dict.fromkeys(diagnose.causes)) if r is not None]
    posterior, first = case.timeline.judged.posterior, case.timeline.moments[0].posterior
    steps = sum(t.event < number for t in case.timeline.evidence())
    return Support(
        tuple(diagnose.causes), float(posterior[rows].sum()), float(posterior[:-1].max()), float(first[rows].sum()),
        any(cause in diagnose.causes for cause in case.truths), steps,
    )  # fmt: skip


def mark(case: Case) -> Mark:
    """0.25 family, 0.5 cause, 0.25 place (where it can be judged), times confidence's calibration."""
    held = support(case)
    if held is None or case.timeline.diagnosis is None:
        return nothing("You named no cause.")
    number, diagnose = case.timeline.diagnosis
    if held.steps == 0:
        return Mark(0.0, "You named a cause before any step had been taken: that is a guess.", (number,))
    shares = [(FAMILY_SHARE, _family(case, diagnose)), (CAUSE_SHARE, _cause(held))]
    place = _place(case, diagnose)
    if place is not None:
        shares.append((PLACE_SHARE, place))
    score = sum(share * part for share, part in shares) / sum(share for share, _ in shares)
    score *= _calibration(diagnose.confidence, held.mass) * AFTER_A_FIX ** _revisions(case)
    return Mark(clamp(score), _words(case, held, diagnose, place), (number,))


def _cause(held: Support) -> float:
    if len(held.named) == 1:
        return clamp(WITHIN * held.mass / held.top) if held.top > 0 else 0.0
    return clamp(held.mass - PRICE_OF_SIZE * (len(held.named) - 1))


def _family(case: Case, diagnose: Diagnose) -> float:
    families = np.array(case.index.families)
    posterior = case.timeline.judged.posterior[:-1]
    mass = {family: float(posterior[families == family].sum()) for family in dict.fromkeys(case.index.families)}
    named = {f for c, f in zip(case.index.causes, case.index.families, strict=True) if c in diagnose.causes}
    best = max(mass.values())
    if not named or best <= 0:
        return 0.0
    return clamp(WITHIN * max(mass[f] for f in named) / best - PRICE_OF_SIZE * (len(named) - 1))


def _place(case: Case, diagnose: Diagnose) -> float | None:
    """None where it cannot be judged: a cause without a place, a wrong cause, or a transcript without places."""
    right = [cause for cause in case.truths if cause in diagnose.causes]
    accepted = [place for cause in right for place in case.transcript.places.get(cause, ())]
    if not accepted:
        return None
    return float(diagnose.where is not None and diagnose.where in accepted)


def _calibration(confidence: float | None, mass: float) -> float:
    if confidence is None:
        return NO_CONFIDENCE_GIVEN
    beyond = max(0.0, abs(confidence - mass) - CONFIDENCE_FREE)
    return 1 - CONFIDENCE_COST * min(1.0, beyond / (1 - CONFIDENCE_FREE))


def _revisions(case: Case) -> int:
    """Diagnoses made after a first fix."""
    fixes = case.timeline.events(Fix)
    return sum(number > fixes[0][0] for number, _ in case.timeline.events(Diagnose)) if fixes else 0


def _words(case: Case, held: Support, diagnose: Diagnose, place: float | None) -> str:
    named = listed([case.title(cause) for cause in held.named])
    said = f"You named {named}; your evidence gave it {held.mass * 100:.0f} %"
    if diagnose.confidence is not None:
        said += f" and you {diagnose.confidence * 100:.0f} %, {_sureness(diagnose.confidence - held.mass)}"
    if place is not None:
        wrong = "not named" if diagnose.where is None else "wrong"
        said += f", and the place was {'right' if place else wrong}"
    if held.mass * WITHIN < held.top:
        best = case.index.causes[int(case.timeline.judged.posterior[:-1].argmax())]
        said += f"; it supported {case.title(best)} more"
    return f"{said}."


def _sureness(off: float) -> str:
    if abs(off) <= CONFIDENCE_FREE:
        return "about the same"
    return "less sure than you could be" if off < 0 else "surer than your readings"
