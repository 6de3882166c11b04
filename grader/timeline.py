"""One walk through the events: what was known, spent and claimed at each moment. Everything the criteria read.

The order of events is the order of the list. Steps chosen after a fix that changed the lab, and steps past the time
budget, are kept but bring no evidence.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from grader.fixes import changes_the_lab
from grader.index import Index
from grader.inference import Belief, best_step, expected_gains, no_evidence
from grader.knowledge import StepKnowledge
from grader.pricing import SYMPTOM, step_minutes
from grader.transcript import (
    Cited,
    Close,
    Curveball,
    Diagnose,
    EventBase,
    Fix,
    Predict,
    Prevent,
    Reveal,
    Step,
    Transcript,
    TranscriptError,
    Verify,
    variant_id,
)

E = TypeVar("E", bound=EventBase)


@dataclass(frozen=True, eq=False)
class Taken:
    """One step event, resolved.

    `counts`: it brought evidence (before any fix that changed the lab, within the budget, not settled before).
    """

    event: int
    row: int
    variant: str
    step: StepKnowledge
    finding: str
    minutes: float
    gain_bits: float
    best_row: int
    best_gain_bits: float
    counts: bool
    after_fix: bool


@dataclass(frozen=True, eq=False)
class Moment:
    """The belief from event `event` on (−1: the symptom, before the first event)."""

    event: int
    title: str
    belief: Belief

    @cached_property
    def posterior(self) -> np.ndarray:
        return self.belief.posterior()


@dataclass(frozen=True, eq=False)
class Timeline:
    """The whole attempt, resolved."""

    index: Index
    transcript: Transcript
    symptom: str | None
    taken: tuple[Taken, ...]
    moments: tuple[Moment, ...]
    minutes: dict[int, float]
    ends: int
    budget_ends: int

    def moment(self, event: int) -> Moment:
        """The belief in force just before event `event`."""
        return self.moments[bisect_left(self._moment_events, event) - 1]

    @cached_property
    def _moment_events(self) -> list[int]:
        return [m.event for m in self.moments]

    @property
    def last(self) -> Moment:
        return self.moments[-1]

    def events(self, kind: type[E]) -> list[tuple[int, E]]:
        """(event index, event) of one kind, before the close and within the time budget."""
        stop = min(self.ends, self.budget_ends)
        return [(i, e) for i, e in enumerate(self.transcript.events[:stop]) if isinstance(e, kind)]

    def evidence(self) -> list[Taken]:
        """The steps that brought evidence, in order."""
        return self._evidence

    @cached_property
    def _evidence(self) -> list[Taken]:
        return [t for t in self.taken if t.counts]

    def cited(self, because: Iterable[str | int | Cited], before: int) -> list[Taken]:
        """The steps that `because` names and that were in hand before event `before`."""
        refs = {_ref(item) for item in because}
        return [
            t for t in self.evidence() if t.event < before and not refs.isdisjoint((t.event, t.variant, t.step.step))
        ]

    @cached_property
    def fix_events(self) -> list[tuple[int, Fix]]:
        return self.events(Fix)

    @cached_property
    def diagnosis(self) -> tuple[int, Diagnose] | None:
        """The last diagnosis made before the close."""
        made = self.events(Diagnose)
        return made[-1] if made else None

    @cached_property
    def judged(self) -> Moment:
        """The belief at the diagnosis; without one, the last."""
        return self.moment(self.diagnosis[0]) if self.diagnosis else self.last

    def straggler_share(self, moment: Moment) -> float:
        """Posterior of the causes that make one rank late."""
        return float(moment.posterior[:-1][self.index.late_ranks].sum())

    def excludes(self, moment: Moment, chosen: np.ndarray) -> bool:
        """Whether the readings in hand exclude every cause chosen, (causes,) bool; False where there is none."""
        return bool(chosen.any() and moment.belief.out[chosen].all())


def read(index: Index, transcript: Transcript) -> Timeline:
    """Resolve a transcript against knowledge. Raises TranscriptError naming event and field of an unknown id."""
    _check_head(index, transcript)
    _check_ids(index, transcript)
    events = transcript.events
    by_variant = dict(zip(index.variants, index.steps[:-1], strict=True))
    minutes = step_minutes(events, by_variant, index.knowledge.stop_weight)
    ends = next((i for i, e in enumerate(events) if isinstance(e, Close | Reveal)), len(events))
    symptom = _symptom(index, transcript)
    belief = no_evidence(index)
    belief = belief.after(index.symptom_row, symptom) if symptom else belief
    moments, taken = [Moment(-1, "The symptom", belief)], []
    spent, fixed, budget_ends = 0.0, False, len(events)
    for number, event in enumerate(events[:ends]):
        fixed = fixed or (isinstance(event, Fix) and changes_the_lab(index.knowledge, transcript, number, event))
        if not isinstance(event, Step) or event.step == SYMPTOM:
            continue
        spent += minutes[number]
        late = spent > index.knowledge.time_budget_min + 1e-9
        budget_ends = min(budget_ends, number) if late else budget_ends
        one = _take(moments[-1].belief, transcript, number, event, minutes[number], late=late, fixed=fixed)
        taken.append(one)
        if one.counts:
            moments.append(Moment(number, one.step.title, moments[-1].belief.after(one.row, one.finding)))
    return Timeline(index, transcript, symptom, tuple(taken), tuple(moments), minutes, ends, budget_ends)


def written_finding(index: Index, number: int, event: Step | Verify, row: int) -> str | None:
    """The event's own finding, checked; None in a hand-written transcript that leaves it out."""
    if event.finding is not None and event.finding not in index.finding_of[row]:
        raise _unknown(number, event.kind, "finding", event.finding, index.finding_of[row])
    return event.finding


def active_cause(transcript: Transcript, number: int) -> str:
    """The cause that a hand-written event is read under: the first named, until a curveball adds another."""
    thrown = [e.cause for e in transcript.events[:number] if isinstance(e, Curveball)]
    named = [*transcript.causes[:1], *thrown]
    if not named:
        kind = transcript.events[number].kind
        raise TranscriptError(
            f"event {number} ({kind}): field finding: is missing, and the transcript names no cause to infer it from",
            event=number, field="finding",
        )  # fmt: skip
    return named[-1]


def _ref(item: str | int | Cited) -> str | int:
    ref = item.ref if isinstance(item, Cited) else item
    # A form sends the index of an event as text.
    return int(ref) if isinstance(ref, str) and ref.isdecimal() and len(ref) < 9 else ref


def _take(
    belief: Belief, transcript: Transcript, number: int, event: Step, minutes: float, *, late: bool, fixed: bool
) -> Taken:
    index = belief.index
    row = index.row_of[variant_id(event.step, event.with_)]
    finding = written_finding(index, number, event, row)
    if finding is None:
        finding = index.most_likely(row, active_cause(transcript, number))
    gains = expected_gains(belief)
    best, best_bits = best_step(belief, gains)
    return Taken(
        number, row, index.variants[row], index.steps[row], finding, minutes,
        0.0 if late or fixed else float(gains[row]), best, best_bits,
        counts=not (late or fixed or row in belief.settled), after_fix=fixed,
    )  # fmt: skip


def _symptom(index: Index, transcript: Transcript) -> str | None:
    shown = next(
        (e.finding for e in transcript.events if isinstance(e, Step) and e.step == SYMPTOM and e.finding), None
    )
    finding = transcript.symptom or shown
    if finding is None:
        return index.most_likely(index.symptom_row, transcript.causes[0]) if transcript.causes else None
    if finding not in index.finding_of[index.symptom_row]:
        known = ", ".join(index.finding_of[index.symptom_row])
        raise TranscriptError(f"transcript: field symptom: {finding!r} is not one of {known}", field="symptom")
    return finding


def _check_head(index: Index, transcript: Transcript) -> None:
    if transcript.scenario != index.knowledge.scenario:
        raise TranscriptError(
            f"transcript: field scenario: {transcript.scenario!r}, but the knowledge is of "
            f"{index.knowledge.scenario!r}",
            field="scenario",
        )
    for cause in transcript.causes:
        if cause not in index.causes:
            raise TranscriptError(
                f"transcript: field causes: {_not_known(cause, index.causes, transcript.scenario)}", field="causes"
            )


def _check_ids(index: Index, transcript: Transcript) -> None:
    fixes = [fix.id for fix in index.knowledge.fixes]
    measures = [measure.id for measure in index.knowledge.measures]
    metrics = [metric.id for metric in index.knowledge.metrics]
    for number, event in enumerate(transcript.events):
        if isinstance(event, Step | Predict | Verify) and event.step != SYMPTOM:
            _check_step(index, number, event)
        elif isinstance(event, Fix) and event.fix not in fixes:
            raise _unknown(number, event.kind, "fix", event.fix, fixes)
        elif isinstance(event, Curveball) and event.cause not in index.causes:
            raise _unknown(number, event.kind, "cause", event.cause, index.causes)
        elif isinstance(event, Prevent):
            for measure in set(event.measures) - set(measures):
                raise _unknown(number, event.kind, "measures", measure, measures)
            for alert in event.alerts:
                if metrics and alert.metric not in metrics:
                    raise _unknown(number, event.kind, "alerts", alert.metric, metrics)


def _check_step(index: Index, number: int, event: Step | Predict | Verify) -> None:
    variant = variant_id(event.step, event.with_)
    if variant in index.row_of:
        return
    offered = [v for v, s in zip(index.variants, index.steps, strict=False) if s.step == event.step]
    if offered:
        raise TranscriptError(
            f"event {number} ({event.kind}): field with: {variant} is not offered; it is {' or '.join(offered)}",
            event=number, field="with",
        )  # fmt: skip
    raise _unknown(number, event.kind, "step", event.step, list(dict.fromkeys(s.step for s in index.steps[:-1])))


def _unknown(number: int, kind: str, field: str, value: str, known: Iterable[str]) -> TranscriptError:
    return TranscriptError(
        f"event {number} ({kind}): field {field}: {_not_known(value, list(known), 'this scenario')}",
        event=number, field=field,
    )  # fmt: skip


def _not_known(value: str, known: Sequence[str], where: str) -> str:
    close = difflib.get_close_matches(value, known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(known)}"
    return f'"{value}" is not known in {where}; {hint}'
