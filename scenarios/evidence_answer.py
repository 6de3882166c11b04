"""Which run answers a chosen step, and when it is shown. Decided once; what was shown never changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gpu_worker.models import Answer, Evidence, Run, RunQuerySet, RunStatus
from gpu_worker.serving import queue
from gpu_worker.specs import WholeRun
from scenarios import bank, palette
from scenarios.instances import NOTHING, State

# A run taken up again is waited for once more, but no longer than any other.
LONGEST_WAIT_AGAIN = timedelta(seconds=15)

# Clocks of two servers may differ by a little; more is a clock that was set back.
CLOCK_SET_BACK = timedelta(minutes=1)

TAKEN_UP_AGAIN = "The lab worker ended while it ran this experiment; another run of it was made and answers."
SLOWER_THAN_PLANNED = "The lab was slower than planned, so the bank answered."
NO_RESULT = "The lab's run ended without a result that can be trusted, so the bank answered."


@dataclass(frozen=True)
class Question:
    """One experiment of one owner in one state of the lab, and where in the bank its answer lies."""

    owner: str
    experiment: str
    state: str
    table: str
    instance: str
    effect: State

    def answer(self) -> Answer | None:
        """The answer, if it is decided."""
        same = Answer.objects.filter(owner=self.owner, experiment=self.experiment, state=self.state)
        return same.select_related("run").first()

    def decide(self, run: Run | None, now: datetime) -> Answer:
        """Which run answers, once and for all (None: the bank's). Of two that decide at once the first holds for both.

        Raises BankIncomplete where the bank must answer and cannot.
        """
        decided = self.answer()
        if decided is not None:
            return decided
        banked = self.from_the_bank() if run is None else None
        answer, _ = Answer.objects.get_or_create(
            owner=self.owner,
            experiment=self.experiment,
            state=self.state,
            defaults={"run": run, "banked": banked, "decided_at": now},
        )
        return answer

    def from_the_bank(self) -> bytes:
        return Run.packed(bank.whole_run(self.table, self.instance, self.experiment, self.effect))


def question_of(evidence: Evidence) -> Question:
    effect = evidence.effect or NOTHING
    return Question(evidence.owner, evidence.experiment, evidence.state, evidence.table, evidence.bank_instance, effect)


def settle(evidence: Evidence, *, now: datetime) -> bool:
    """Shows the evidence if its time has come: fixes its run and finding. True if it is shown. Idempotent."""
    if evidence.shown_at is not None:
        return True
    start_the_wait_over(evidence, now)
    if now < evidence.ready_at or is_taken_up_again(evidence, now):
        return False
    show(evidence, question_of(evidence).decide(finished_run(evidence), now), now)
    evidence.refresh_from_db()
    return evidence.shown_at is not None


def start_the_wait_over(evidence: Evidence, now: datetime) -> None:
    """Where the clock was set back since the evidence was asked for: else it would wait until the old time came."""
    back = evidence.requested_at - now
    if back <= CLOCK_SET_BACK:
        return
    Evidence.objects.pending().filter(pk=evidence.pk).update(
        requested_at=evidence.requested_at - back, ready_at=evidence.ready_at - back
    )
    evidence.refresh_from_db()


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
    if ready_at <= max(now, evidence.ready_at) or ready_at - now > LONGEST_WAIT_AGAIN:
        return False
    Evidence.objects.pending().filter(pk=evidence.pk).update(ready_at=ready_at)
    evidence.refresh_from_db()
    return True


def show(evidence: Evidence, answer: Answer, now: datetime) -> None:
    """Compare-and-set: whichever tab comes first fixes the finding, and the other reads it."""
    probe = palette.probe_of(evidence.step)
    finding = probe.finding(probe.read(answer.whole_run(), evidence.with_params))
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


def run_behind(evidence: Evidence) -> WholeRun:
    """The whole run that answered shown evidence. Raises ValueError where none is stored."""
    own = evidence.run.whole_run() if evidence.run is not None else None
    if own is not None:
        return own
    answer = question_of(evidence).answer()
    if answer is None:
        raise ValueError(f"evidence {evidence.pk} has no answer yet")
    return answer.whole_run()
