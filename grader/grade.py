"""grade(transcript, knowledge) -> Scorecard. Pure: the same arguments give the same scorecard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from grader import timeline as timelines
from grader.criteria import CRITERIA
from grader.criteria.base import Case, Mark
from grader.criteria.predictions import predictions
from grader.criteria.prevention import tried_alerts
from grader.criteria.repair import fix_effect
from grader.criteria.rule_outs import claims
from grader.dimensions import dimensions
from grader.index import index_of
from grader.knowledge import HEALTHY, Knowledge
from grader.labels import hint_levels, labels
from grader.policy import ENOUGH_CERTAINTY, WORTHLESS_BITS, best_path, expected_minutes
from grader.rubric import Rubric
from grader.scorecard import (
    AlertScore,
    Belief,
    BestStep,
    CriterionScore,
    Ignored,
    Named,
    PredictionScore,
    RuledOut,
    Scorecard,
    StepScore,
    Verification,
)
from grader.timeline import Taken, Timeline
from grader.transcript import Fix, Transcript, Unknown, Verify, parse_transcript, variant_id

HELD_AT = 0.6


def grade(transcript: Transcript | Mapping[str, Any], knowledge: Knowledge, rubric: Rubric) -> Scorecard:
    """Score one attempt. Raises TranscriptError naming event and field where the transcript cannot be read."""
    case = case_of(transcript, knowledge, rubric)
    marks = {name: criterion.mark(case) for name, criterion in case.criteria.items()}
    reasons = labels(case, rubric.lucky)
    before = _total(marks, rubric)
    hint_cost = sum(rubric.hint_costs[level] for level in hint_levels(case))
    cap = rubric.lucky.cap if "lucky" in reasons else None
    total = max(0.0, before - hint_cost)
    line, index = case.timeline, case.index
    return Scorecard(
        scenario=knowledge.scenario,
        revision=knowledge.revision,
        calibration=knowledge.calibration,
        track=knowledge.track,
        rubric=rubric.name,
        rubric_revision=rubric.revision,
        total=total if cap is None else min(total, cap),
        before_hints=before,
        hint_cost=hint_cost,
        cap=cap,
        criteria=_criteria(marks, rubric),
        labels=tuple(reasons),
        label_reasons=reasons,
        conditions=dict(line.transcript.conditions),
        causes=case.truths,
        symptom=line.symptom,
        posterior=index.as_dict(line.judged.posterior),
        posteriors=tuple(
            Belief(event=m.event, title=m.title, posterior=index.as_dict(m.posterior), entailed=m.belief.entailed())
            for m in line.moments
        ),
        steps=tuple(_step(line, taken) for taken in line.taken),
        ruled_out=_ruled_out(case),
        predictions=tuple(PredictionScore(event=p.event, step=p.variant, score=p.score) for p in predictions(case)),
        verifications=_verifications(case),
        alerts=_alerts(case),
        diagnosis=_named(case),
        ignored=tuple(
            Ignored(event=i, kind=e.kind) for i, e in enumerate(line.transcript.events) if isinstance(e, Unknown)
        ),
        best_path=_best_path(case),
        minutes_spent=sum(line.minutes.values()),
        minutes_best=_minutes_best(case),
        time_budget_min=knowledge.time_budget_min,
        dimensions=dimensions(case, marks, rubric.dimensions),
    )


def case_of(transcript: Transcript | Mapping[str, Any], knowledge: Knowledge, rubric: Rubric) -> Case:
    """The attempt laid out under a rubric: only what it weighs is judged."""
    line = timelines.read(index_of(knowledge), parse_transcript(transcript))
    weighed = {name: CRITERIA[name] for name, weight in rubric.weights.items() if weight}
    return Case(line, {type(one): one for one in rubric.settings.values()}, weighed)


def _total(marks: Mapping[str, Mark], rubric: Rubric) -> float:
    share = _shared_weights(marks, rubric)
    # Shares that sum to 1 in floating point may sum to a little more.
    return min(1.0, sum(mark.score * share[name] for name, mark in marks.items()))


def _shared_weights(marks: Mapping[str, Mark], rubric: Rubric) -> dict[str, float]:
    """Weights over the criteria that apply, scaled to sum to 1; 0 for the others."""
    applicable = sum(rubric.weights[name] for name, mark in marks.items() if mark.applicable)
    return {
        name: rubric.weights[name] / applicable if mark.applicable and applicable else 0.0
        for name, mark in marks.items()
    }


def _criteria(marks: Mapping[str, Mark], rubric: Rubric) -> dict[str, CriterionScore]:
    share, settings = _shared_weights(marks, rubric), rubric.settings
    return {
        name: CriterionScore(
            title=settings[name].title, score=mark.score, weight=share[name], rubric_weight=rubric.weights[name],
            applicable=mark.applicable, events=mark.events, why=mark.why,
        )
        for name, mark in marks.items()
    }  # fmt: skip


def _alerts(case: Case) -> tuple[AlertScore, ...]:
    return tuple(
        AlertScore(
            event=one.event, **alert.model_dump(), cause=one.cause, detected=one.detected, tried=one.tried,
            delay_points=one.delay_points, delay_s=one.delay_s, false_alarms=one.false_alarms,
            false_alarms_per_1000=one.false_alarms_per_1000,
        )
        for one in tried_alerts(case)
        for alert in one.alerts
    )  # fmt: skip


def _named(case: Case) -> Named | None:
    if case.timeline.diagnosis is None:
        return None
    number, said = case.timeline.diagnosis
    right = any(cause in said.causes for cause in case.truths) if case.truths else None
    return Named(event=number, causes=tuple(said.causes), confidence=said.confidence, right=right)


def _step(line: Timeline, taken: Taken) -> StepScore:
    learnable = taken.best_gain_bits > WORTHLESS_BITS
    return StepScore(
        event=taken.event,
        step=taken.variant,
        title=taken.step.title,
        finding=taken.finding,
        finding_sentence=taken.step.sentences.get(taken.finding, ""),
        gain_bits=taken.gain_bits,
        minutes=taken.minutes,
        best_step=line.index.variants[taken.best_row] if learnable else None,
        best_title=line.index.steps[taken.best_row].title if learnable else "",
        best_gain_bits=taken.best_gain_bits,
        counted=taken.counts,
    )


def _ruled_out(case: Case) -> tuple[RuledOut, ...]:
    return tuple(
        RuledOut(
            event=c.event, cause=c.cause, title=case.title(c.cause), status=c.status,
            cited=c.cited, excluded_by=c.excluded_by, restored=c.restored,
        )
        for c in claims(case)
    )  # fmt: skip


def _verifications(case: Case) -> tuple[Verification, ...]:
    found, fix = [], None
    for number, event in enumerate(case.transcript.events[: case.timeline.ends]):
        if isinstance(event, Fix):
            fix = event
        elif isinstance(event, Verify):
            found.append(_verification(case, number, event, fix))
    return tuple(found)


def _verification(case: Case, number: int, event: Verify, fix: Fix | None) -> Verification:
    against = (event.against,) if isinstance(event.against, str) else tuple(event.against)
    row = case.index.row_of[variant_id(event.step, event.with_)]
    finding = timelines.written_finding(case.index, number, event, row)
    if finding is None:
        cured = fix is not None and fix_effect(case, fix) == "cures"
        cause = HEALTHY if cured else timelines.active_cause(case.transcript, number)
        finding = case.index.most_likely(row, cause)
    return Verification(
        event=number, step=variant_id(event.step, event.with_), against=against, finding=finding,
        held=_held(case, row, finding),
    )  # fmt: skip


def _held(case: Case, row: int, finding: str) -> bool | None:
    """Whether the finding speaks for a healthy run against the causes as believed before the fix."""
    cell = case.index.steps[row].cells.get(HEALTHY)
    if cell is None:
        return None
    weights = case.timeline.judged.posterior
    ill = float((weights * case.index.p[row, :, case.index.finding_of[row][finding]]).sum())
    share = cell.p.get(finding, 0.0) / max(cell.p.get(finding, 0.0) + ill, 1e-12)
    return True if share >= HELD_AT else False if share <= 1 - HELD_AT else None


def _best_path(case: Case) -> tuple[BestStep, ...]:
    if not case.truths:
        return ()
    return tuple(BestStep(**asdict(step)) for step in best_path(case.index, case.timeline.symptom, case.truths[0]))


def _minutes_best(case: Case) -> float | None:
    if not case.truths:
        return None
    return expected_minutes(case.index, case.timeline.symptom, case.truths[0], ENOUGH_CERTAINTY)
