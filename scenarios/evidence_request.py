"""Choosing a step: its parameters checked, its run found or queued, its row made once whatever two tabs do."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from gpu_worker.models import Evidence, Purpose, Run
from gpu_worker.probes.base import Probe
from gpu_worker.serving import queue
from grader.transcript import variant_id
from scenarios import offered, palette
from scenarios.errors import did_you_mean
from scenarios.evidence_answer import Question
from scenarios.instances import NOTHING, Instance, State, spec_for

log = logging.getLogger(__name__)

LONGEST_LIVE_WAIT = timedelta(seconds=15)
PENDING_SLOTS = (0, 1)
FULL = "two steps are already under way; wait until one of them is shown"


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
    for place, experiment in enumerate(offered.first_of(instance.table)):
        # A moment apart: the queue serves in order of arrival.
        asked_at = now + timedelta(microseconds=place)
        try:
            own_run(owner, instance, experiment, NOTHING, "", Purpose.PREFETCH, asked_at)
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
    effect: State | None = None,
    state: str | None = None,
) -> Evidence:
    """One step chosen: its evidence, pending until `settle` shows it.

    `effect` is what the fixes made so far left of fault and job, None before the first; `state` names it and tells
    nothing (by default one name for each). The same step, parameters and state asked for while pending give the same
    row.
    Raises UnknownStep, BadParameter, TooManyPending, and BankIncomplete where neither lab nor bank could answer.
    """
    probe = checked_probe(step)
    chosen = checked_params(probe, with_)
    wanted = Wanted(owner, instance, probe, chosen, Purpose(purpose), effect or NOTHING, state_of(effect, state))
    with transaction.atomic():
        return wanted.pending() or wanted.ask(now)


def state_of(effect: State | None, state: str | None) -> str:
    if state is not None:
        return state
    return "" if effect is None else state_after(effect)


def state_after(effect: State, fixes: int = 1) -> str:
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
        effect: State,
        state: str,
    ) -> None:
        self.owner, self.instance, self.probe, self.with_ = owner, instance, probe, with_
        self.purpose, self.effect, self.state = purpose, effect, state
        self.variant = variant_id(probe.id, with_)
        self.experiment = probe.experiment(with_)
        self.question = Question(owner, self.experiment, state, instance.table, instance.id, effect)

    def pending(self) -> Evidence | None:
        same = Evidence.objects.of(self.owner).pending()
        return same.filter(purpose=self.purpose, variant=self.variant, state=self.state).first()

    def ask(self, now: datetime) -> Evidence:
        """A new row in a free slot. Of two tabs that ask at once, the database lets one make it."""
        free = free_slots(self.owner)
        if not free:
            raise TooManyPending(FULL)
        live, ready_at = self.plan(now)
        for slot in free:
            try:
                with transaction.atomic():
                    return self.create(slot, live, ready_at, now)
            except IntegrityError:
                if (theirs := self.pending()) is not None:
                    return theirs
        raise TooManyPending(FULL)

    def plan(self, now: datetime) -> tuple[bool, datetime]:
        """Whether the owner's own run is to answer, and when the answer may be shown."""
        answered = self.question.answer()
        if answered is not None:
            return answered.run_id is not None, now
        expected = self.expected_live(now)
        if expected is not None:
            return True, max(now, expected)
        self.question.decide(None, now)
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
    owner: str, instance: Instance, experiment: str, effect: State, state: str, purpose: Purpose, now: datetime
) -> tuple[Run, bool]:
    """The owner's run of an experiment in a state, and whether it is new: hurried or queued. Raises QueueFull."""
    priority = queue.PRIORITY[purpose]
    run = Run.objects.answering(owner, experiment, state).first()
    if run is not None:
        queue.hurry(run, priority, now)
        return run, False
    spec = spec_for(instance, experiment, effect)
    return queue.enqueue(spec, priority=priority, owner=owner, purpose=purpose, state=state, now=now), True
