"""Evidence: a chosen step, the run that answers it, and what a candidate sees of it.

The answer rule looks at nominal times and the queue only, so that neither a wait nor the label live or banked tells the
cause. Once a run has answered an experiment for an owner, every later step on that experiment reads the same run.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from gpu_worker import queue
from gpu_worker.models import Answer, Evidence, Purpose, Run, RunQuerySet, RunStatus
from gpu_worker.probes.base import Probe
from gpu_worker.specs import WholeRun
from grader.knowledge import Effect
from grader.transcript import variant_id
from scenarios import bank, palette
from scenarios.errors import did_you_mean
from scenarios.evidence_view import EvidenceView, build_view
from scenarios.format import Scenario
from scenarios.instances import Instance, spec_for
from scenarios.symptom import SymptomView
from scenarios.symptom import symptom as measured_symptom

log = logging.getLogger(__name__)

LIKELY_EXPERIMENTS = ("job", "microbenchmark[placement=as-job,size=job]")
LONGEST_LIVE_WAIT = timedelta(seconds=15)
PENDING_SLOTS = (0, 1)

TAKEN_UP_AGAIN = "The lab worker ended while it ran this experiment; another run of it was made and answers."
SLOWER_THAN_PLANNED = "The lab was slower than planned, so the bank answered."
NO_RESULT = "The lab's run ended without a result that can be trusted, so the bank answered."

__all__ = [
    "BadParameter",
    "EvidenceView",
    "SymptomView",
    "TooManyPending",
    "UnknownStep",
    "open_for",
    "progress",
    "request",
    "settle",
    "state_after",
    "symptom",
    "view",
]


class TooManyPending(Exception):
    """The owner has two steps pending; a third must wait."""


class UnknownStep(Exception):
    """The step is not in the palette, or cannot be measured."""


class BadParameter(Exception):
    """A parameter is missing, unknown or has a value that is no choice; the message names the choices."""


def open_for(owner: str, instance: Instance, *, now: datetime) -> None:
    """Queues the experiments that an attempt is likely to need, at low priority, where the lab can measure."""
    if not queue.live_enabled(now):
        return
    for place, experiment in enumerate(LIKELY_EXPERIMENTS):
        # A moment apart: the queue serves in order of arrival.
        asked_at = now + timedelta(microseconds=place)
        try:
            own_run(owner, instance, experiment, "nothing", "", Purpose.PREFETCH, asked_at)
        except queue.QueueFull as full:
            log.info("nothing is prefetched: %s", full)
            return


def request(
    owner: str,
    instance: Instance,
    step: str,
    with_: Mapping[str, str],
    *,
    now: datetime,
    purpose: str = "step",
    effect: Effect | None = None,
    state: str | None = None,
) -> Evidence:
    """One step chosen: its evidence, pending until `settle` shows it.

    `effect` is that of the fixes made so far, None before the first; `state` names the state of the lab that it left
    (by default one for each effect). The same step, parameters and state asked for while pending give the same row.
    Raises UnknownStep, BadParameter, TooManyPending, and BankIncomplete where neither lab nor bank could answer.
    """
    probe = checked_probe(step)
    chosen = checked_params(probe, with_)
    wanted = Wanted(owner, instance, probe, chosen, Purpose(purpose), effect or "nothing", state_of(effect, state))
    with transaction.atomic():
        return wanted.pending() or wanted.ask(now)


def state_of(effect: Effect | None, state: str | None) -> str:
    if state is not None:
        return state
    return "" if effect is None else state_after(effect)


def state_after(effect: Effect, fixes: int = 1) -> str:
    """An opaque name for the lab's state after `fixes` fixes that together had an effect."""
    return hashlib.sha256(f"after {fixes} fixes: {effect}".encode()).hexdigest()[:16]


def checked_probe(step: str) -> Probe:
    try:
        return palette.probe_of(step)
    except KeyError as unknown:
        raise UnknownStep(unknown.args[0]) from None


def checked_params(probe: Probe, with_: Mapping[str, str]) -> dict[str, str]:
    """The parameters in the probe's order. Raises BadParameter naming the choices."""
    for name in with_:
        if name not in probe.parameters:
            raise BadParameter(f'{probe.id} has no parameter "{name}"{did_you_mean(name, probe.parameters)}')
    for name, choices in probe.parameters.items():
        if with_.get(name) not in choices:
            said = f'not "{with_[name]}"' if name in with_ else "which was not given"
            raise BadParameter(f"{name} of {probe.id} must be one of {', '.join(choices)}, {said}")
    return {name: with_[name] for name in probe.parameters}


class Wanted:
    """One request, checked: finds its pending row or makes it."""

    def __init__(
        self,
        owner: str,
        instance: Instance,
        probe: Probe,
        with_: dict[str, str],
        purpose: Purpose,
        effect: Effect,
        state: str,
    ) -> None:
        self.owner, self.instance, self.probe, self.with_ = owner, instance, probe, with_
        self.purpose, self.effect, self.state = purpose, effect, state
        self.variant = variant_id(probe.id, with_)
        self.experiment = probe.experiment(with_)

    def pending(self) -> Evidence | None:
        same = Evidence.objects.of(self.owner).pending()
        return same.filter(purpose=self.purpose, variant=self.variant, state=self.state).first()

    def ask(self, now: datetime) -> Evidence:
        """A new row in a free slot. Of two tabs that ask at once, the database lets one make it."""
        free = free_slots(self.owner)
        if not free:
            raise TooManyPending("two steps are already under way; wait until one of them is shown")
        live, ready_at = self.plan(now)
        for slot in free:
            try:
                with transaction.atomic():
                    return self.create(slot, live, ready_at, now)
            except IntegrityError:
                if (theirs := self.pending()) is not None:
                    return theirs
        raise TooManyPending("two steps are already under way; wait until one of them is shown")

    def plan(self, now: datetime) -> tuple[bool, datetime]:
        """Whether the owner's own run is to answer, and when the answer may be shown."""
        answered = answer_of(self.owner, self.experiment, self.state)
        if answered is not None:
            return answered.run_id is not None, now
        expected = self.expected_live(now)
        if expected is not None:
            return True, max(now, expected)
        decide(self.owner, self.experiment, self.state, None, now)
        return False, now

    def expected_live(self, now: datetime) -> datetime | None:
        """When the owner's own run will have ended by nominal times; None where the bank must answer."""
        if not queue.live_enabled(now):
            return None
        try:
            run, is_new = own_run(
                self.owner, self.instance, self.experiment, self.effect, self.state, self.purpose, now
            )
        except queue.QueueFull as full:
            log.info("the bank answers: %s", full)
            return None
        expected = queue.expected_finish(run, now)
        if expected - now <= LONGEST_LIVE_WAIT:
            return expected
        if is_new:
            # Nobody would read it. An older run stays: whether it still waits depends on what really ran before it.
            queue.withdraw(run)
        return None

    def create(self, slot: int, live: bool, ready_at: datetime, now: datetime) -> Evidence:
        return Evidence.objects.create(
            owner=self.owner,
            purpose=self.purpose,
            step=self.probe.id,
            variant=self.variant,
            with_params=self.with_,
            experiment=self.experiment,
            state=self.state,
            slot=slot,
            table=self.instance.table,
            bank_instance=self.instance.id,
            effect=self.effect,
            live=live,
            requested_at=now,
            ready_at=ready_at,
        )


def free_slots(owner: str) -> list[int]:
    taken = set(Evidence.objects.of(owner).pending().values_list("slot", flat=True))
    return [slot for slot in PENDING_SLOTS if slot not in taken]


def own_run(
    owner: str, instance: Instance, experiment: str, effect: Effect, state: str, purpose: Purpose, now: datetime
) -> tuple[Run, bool]:
    """The owner's run of an experiment in a state, and whether it is new: hurried or queued. Raises QueueFull."""
    priority = queue.PRIORITY[purpose]
    run = Run.objects.answering(owner, experiment, state).first()
    if run is not None:
        queue.hurry(run, priority, now)
        return run, False
    spec = spec_for(instance, experiment, effect)
    return queue.enqueue(spec, priority=priority, owner=owner, purpose=purpose, state=state, now=now), True


def answer_of(owner: str, experiment: str, state: str) -> Answer | None:
    return Answer.objects.filter(owner=owner, experiment=experiment, state=state).select_related("run").first()


def decide(owner: str, experiment: str, state: str, run: Run | None, now: datetime) -> Answer:
    """Which run answers an experiment, once and for all: of two that decide at once, the first one holds for both."""
    answer, _ = Answer.objects.get_or_create(
        owner=owner, experiment=experiment, state=state, defaults={"run": run, "decided_at": now}
    )
    return answer


def settle(evidence: Evidence, *, now: datetime) -> bool:
    """Shows the evidence if its time has come: fixes its run and finding. True if it is shown. Idempotent."""
    if evidence.shown_at is not None:
        return True
    if now < evidence.ready_at or is_taken_up_again(evidence, now):
        return False
    answer = decide(evidence.owner, evidence.experiment, evidence.state, finished_run(evidence), now)
    show(evidence, answer, now)
    evidence.refresh_from_db()
    return evidence.shown_at is not None


def own_runs(evidence: Evidence) -> RunQuerySet:
    return Run.objects.filter(owner=evidence.owner, experiment=evidence.experiment, state=evidence.state)


def finished_run(evidence: Evidence) -> Run | None:
    """The owner's finished run, where a live answer was planned; None: the bank answers."""
    if not evidence.live:
        return None
    return own_runs(evidence).filter(status=RunStatus.FINISHED).order_by("created_at", "pk").first()


def is_taken_up_again(evidence: Evidence, now: datetime) -> bool:
    """Whether the run's worker died and another has it: then the wait is longer by one nominal time, once."""
    again = own_runs(evidence).unfinished().exclude(retried_at=None).first() if evidence.live else None
    if again is None:
        return False
    ready_at = queue.expected_finish(again, now)
    if ready_at <= max(now, evidence.ready_at) or ready_at - now > LONGEST_LIVE_WAIT:
        return False
    Evidence.objects.pending().filter(pk=evidence.pk).update(ready_at=ready_at)
    evidence.refresh_from_db()
    return True


def show(evidence: Evidence, answer: Answer, now: datetime) -> None:
    """Compare-and-set: whichever tab comes first fixes the finding, and the other reads it."""
    whole = run_behind(evidence, answer.run)
    probe = palette.probe_of(evidence.step)
    finding = probe.finding(probe.read(whole, evidence.with_params))
    Evidence.objects.pending().filter(pk=evidence.pk).update(
        run=answer.run, live=answer.run is not None, finding=finding, note=note_on(evidence, answer.run), shown_at=now
    )


def note_on(evidence: Evidence, run: Run | None) -> str:
    """What the candidate is told where a live answer was planned and something came between. Never a lab's own words:
    a fault that did not fire would name itself."""
    if run is not None:
        return TAKEN_UP_AGAIN if run.tries > 1 else ""
    if not evidence.live:
        return ""
    failed = own_runs(evidence).filter(status=RunStatus.FAILED).first()
    if failed is None:
        return SLOWER_THAN_PLANNED
    return failed.failure if failed.failure == queue.DIED_TWICE else NO_RESULT


def run_behind(evidence: Evidence, run: Run | None) -> WholeRun:
    """The whole run that answers: the owner's own, else the bank's."""
    whole = run.whole_run() if run is not None else None
    if whole is not None:
        return whole
    effect: Any = evidence.effect or "nothing"
    return bank.whole_run(evidence.table, evidence.bank_instance, evidence.experiment, effect)


def progress(evidence: Evidence, *, now: datetime) -> dict[str, Any]:
    """`{share, seconds_left, live, text}` of a pending step: from its nominal times alone."""
    whole_s = (evidence.ready_at - evidence.requested_at).total_seconds()
    left_s = max(0.0, (evidence.ready_at - now).total_seconds())
    share = 1.0 if whole_s <= 0 else min(1.0, 1 - left_s / whole_s)
    return {"share": share, "seconds_left": left_s, "live": evidence.live, "text": progress_text(evidence, left_s)}


def progress_text(evidence: Evidence, left_s: float) -> str:
    if not evidence.live:
        return "Reading the bank"
    if left_s <= 0:
        return "Reading what the lab measured"
    nominal_s = queue.NOMINAL_S[evidence.experiment.partition("[")[0]]
    doing = "Measuring on the lab" if left_s <= nominal_s else "Waiting for the lab"
    return f"{doing}, about {left_s:.0f} s left"


def view(evidence: Evidence) -> EvidenceView:
    """What a candidate sees of shown evidence, a pure function of the stored run. ValueError before it is shown."""
    if evidence.shown_at is None:
        raise ValueError("this evidence is not shown yet; settle it first")
    return build_view(evidence, run_behind(evidence, evidence.run))


def symptom(scenario: Scenario, instance: Instance) -> SymptomView:
    """Evidence 0 of an instance: measured numbers of the brief, and their finding."""
    return measured_symptom(scenario, instance)
