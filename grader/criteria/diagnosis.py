"""Family, cause and place apart, judged by the candidate's own evidence; confidence against its posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, clamp, listed, nothing
from grader.transcript import Diagnose, Fix


class DiagnosisWords(Words):
    never: str = "You named no cause."
    guess: str = "You named a cause before any step had been taken: that is a guess."
    named: str = "You named {causes}; your evidence gave it {share} %"
    confidence: str = " and you {confidence} %, {sureness}"
    fitting: str = "about the same"
    unsure: str = "less sure than you could be"
    too_sure: str = "surer than your readings"
    place_right: str = ", and the place was right"
    place_wrong: str = ", and the place was wrong"
    place_missing: str = ", and the place was not named"
    other: str = "; it supported {cause} more"


class DiagnosisSettings(Settings):
    title: str = "The cause"
    family: Share = 0.25
    cause: Share = 0.5
    place: Share = 0.25
    within: float = Field(default=2.0, ge=1, le=100, description="full within this ratio of the best-supported cause")
    price_of_size: Share = 0.1
    confidence_free: Share = Field(default=0.15, lt=1)
    confidence_cost: Share = 0.5
    no_confidence_given: Share = 0.9
    after_a_fix: Share = Field(default=0.7, description="what is left for each diagnosis made after a first fix")
    words: DiagnosisWords = DiagnosisWords()


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
    its, held = case.its(DiagnosisSettings), support(case)
    if held is None or case.timeline.diagnosis is None:
        return nothing(its.words.never)
    number, diagnose = case.timeline.diagnosis
    if held.steps == 0:
        return Mark(0.0, its.words.guess, (number,))
    shares = [(its.family, _family(case, diagnose)), (its.cause, _cause(case, held))]
    place = _place(case, diagnose)
    if place is not None:
        shares.append((its.place, place))
    score = sum(share * part for share, part in shares) / max(sum(share for share, _ in shares), 1e-9)
    score *= _calibration(its, diagnose.confidence, held.mass) * its.after_a_fix ** _revisions(case)
    return Mark(clamp(score), _words(case, held, diagnose, place), (number,))


def _cause(case: Case, held: Support) -> float:
    its = case.its(DiagnosisSettings)
    if len(held.named) == 1:
        return clamp(its.within * held.mass / held.top) if held.top > 0 else 0.0
    return clamp(held.mass - its.price_of_size * (len(held.named) - 1))


def _family(case: Case, diagnose: Diagnose) -> float:
    its, families = case.its(DiagnosisSettings), np.array(case.index.families)
    posterior = case.timeline.judged.posterior[:-1]
    mass = {family: float(posterior[families == family].sum()) for family in dict.fromkeys(case.index.families)}
    named = {f for c, f in zip(case.index.causes, case.index.families, strict=True) if c in diagnose.causes}
    best = max(mass.values())
    if not named or best <= 0:
        return 0.0
    return clamp(its.within * max(mass[f] for f in named) / best - its.price_of_size * (len(named) - 1))


def _place(case: Case, diagnose: Diagnose) -> float | None:
    """None where it cannot be judged: a cause without a place, a wrong cause, or a transcript without places."""
    right = [cause for cause in case.truths if cause in diagnose.causes]
    accepted = [place for cause in right for place in case.transcript.places.get(cause, ())]
    if not accepted:
        return None
    return float(diagnose.where is not None and diagnose.where in accepted)


def _calibration(its: DiagnosisSettings, confidence: float | None, mass: float) -> float:
    if confidence is None:
        return its.no_confidence_given
    beyond = max(0.0, abs(confidence - mass) - its.confidence_free)
    return 1 - its.confidence_cost * min(1.0, beyond / (1 - its.confidence_free))


def _revisions(case: Case) -> int:
    """Diagnoses made after a first fix."""
    fixes = case.timeline.events(Fix)
    return sum(number > fixes[0][0] for number, _ in case.timeline.events(Diagnose)) if fixes else 0


def _words(case: Case, held: Support, diagnose: Diagnose, place: float | None) -> str:
    its = case.its(DiagnosisSettings)
    named = listed([case.title(cause) for cause in held.named])
    said = its.words.named.format(causes=named, share=f"{held.mass * 100:.0f}")
    if diagnose.confidence is not None:
        sureness = _sureness(its, diagnose.confidence - held.mass)
        said += its.words.confidence.format(confidence=f"{diagnose.confidence * 100:.0f}", sureness=sureness)
    if place is not None:
        wrong = its.words.place_missing if diagnose.where is None else its.words.place_wrong
        said += its.words.place_right if place else wrong
    if held.mass * its.within < held.top:
        best = case.index.causes[int(case.timeline.judged.posterior[:-1].argmax())]
        said += its.words.other.format(cause=case.title(best))
    return f"{said}."


def _sureness(its: DiagnosisSettings, off: float) -> str:
    if abs(off) <= its.confidence_free:
        return its.words.fitting
    return its.words.unsure if off < 0 else its.words.too_sure


CRITERION = Criterion(
    "diagnosis",
    DiagnosisSettings,
    mark,
    "Names cause and place together, with the confidence that the readings carry and no more.",
)
