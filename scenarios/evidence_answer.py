"""Which run answers a chosen step, and when it is shown. Decided once; what was shown never changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from gpu_worker import queue
from gpu_worker.models import Answer, Evidence, Run, RunQuerySet, RunStatus
from gpu_worker.specs import WholeRun
from grader.knowledge import Effect
from scenarios import bank, palette

# A run taken up again is waited for once more, but no longer than any other.
LONGEST_WAIT_AGAIN = timedelta(seconds=15)

TAKEN_UP_AGAIN = "The lab worker ended while it ran this experiment; another run of it was made and answers."
SLOWER_THAN_PLANNED = "The lab was slower than planned, so the bank answered."
NO_RESULT = "The lab's run ended without a result that can be trusted, so the bank answered."


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
    if ready_at <= max(now, evidence.ready_at) or ready_at - now > LONGEST_WAIT_AGAIN:
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
    effect: Effect = evidence.effect or "nothing"  # type: ignore[assignment]
    return bank.whole_run(evidence.table, evidence.bank_instance, evidence.experiment, effect)
