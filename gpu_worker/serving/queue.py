"""The lab's queue: rows, not messages. A message cannot be moved ahead, so the doorbell carries no id and the worker
claims the most urgent row by compare-and-set.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from gpu_worker.experiments import EXPERIMENTS, nominal_s
from gpu_worker.models import MAY_BECOME, Purpose, Run, RunStatus, SelfCheck, WorkerHeartbeat
from gpu_worker.serving import liveness
from gpu_worker.serving.nominal import Asked, finishes
from gpu_worker.specs import ExperimentSpec, WholeRun

PREFETCH, STEP, VERIFY = 10, 20, 30
PLAYGROUND = 5
PRIORITY: dict[str, int] = {
    Purpose.PLAYGROUND: PLAYGROUND,
    Purpose.PREFETCH: PREFETCH,
    Purpose.STEP: STEP,
    Purpose.VERIFY: VERIFY,
    Purpose.SYMPTOM: STEP,
}

MOST_UNFINISHED_AN_OWNER = 6
MOST_UNFINISHED = 60
MOST_TRIES = 2
HEARTBEAT_EVERY_S = 3.0
# Five missed beats: a machine that is only busy is not yet dead.
HEARTBEAT_FRESH_S = 15.0
# Past the task's hard time limit nothing can still be running it.
LONGEST_RUN_S = 240.0
# How far back nominal times reach: longer than the whole queue can take.
HORIZON = timedelta(seconds=2 * MOST_UNFINISHED * max(one.nominal_s for one in EXPERIMENTS.values()))

# Of a worker's capabilities, what an experiment cannot do without.
LAB_NEEDS = ("namespaces", "token_bucket", "gloo")

TOO_OLD = "The experiment waited so long for a lab worker that it was given up."
DIED_TWICE = "The lab worker ended twice while it ran this experiment; it was not tried a third time."


class QueueFull(Exception):
    """The owner, or everybody together, has as many unfinished runs as the lab takes."""


class MayNotBecome(Exception):
    """A run was about to go from one state to another that the table does not allow."""


def enqueue(spec: ExperimentSpec, *, priority: int, owner: str, purpose: str, state: str = "", now: datetime) -> Run:
    """Adds one run and rings the doorbell once the transaction commits.

    Raises QueueFull, naming the bound, where the owner or the whole queue has no place left.
    """
    refuse_when_full(owner)
    run = Run.objects.create(
        experiment=spec.key,
        spec=spec.model_dump(mode="json", by_alias=True),
        priority=priority,
        first_priority=priority,
        owner=owner,
        purpose=purpose,
        state=state,
        nominal_s=nominal_s(spec.experiment),
        created_at=now,
    )
    ring()
    return run


def refuse_when_full(owner: str) -> None:
    unfinished = Run.objects.unfinished()
    if unfinished.filter(owner=owner).count() >= MOST_UNFINISHED_AN_OWNER:
        raise QueueFull(f"{MOST_UNFINISHED_AN_OWNER} of your experiments are unfinished; wait until one has ended")
    if unfinished.count() >= MOST_UNFINISHED:
        raise QueueFull(f"the lab has {MOST_UNFINISHED} unfinished experiments; try again in a minute")


def ring() -> None:
    """Tells the lab worker, after the commit, that there is work. A lost ring is no loss: the worker looks itself."""
    from gpu_worker.tasks import ring_on_commit

    ring_on_commit()


def hurry(run: Run, priority: int, now: datetime) -> None:
    """Moves a queued run ahead; one that is already as urgent, or no longer queued, stays as it is."""
    waiting = Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED, priority__lt=priority)
    if waiting.update(priority=priority, hurried_at=now):
        run.priority, run.hurried_at = priority, now
        ring()


def withdraw(run: Run) -> None:
    """Takes back a run that was queued in the same transaction, before any worker could see it."""
    Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED).delete()


def claim(now: datetime, *, worker: str = "", pid: int | None = None) -> Run | None:
    """The most urgent queued run, now running and ours; None where nothing waits.

    Compare-and-set: of several that claim at once, exactly one gets each run.
    """
    while (best := Run.objects.queued().first()) is not None:
        taken = Run.objects.filter(pk=best.pk, status=RunStatus.QUEUED).update(
            status=RunStatus.RUNNING, tries=best.tries + 1, worker=worker, worker_pid=pid, started_at=now, progress={}
        )
        if taken:
            best.refresh_from_db()
            return best
    return None


def become(run: Run, status: RunStatus, **fields: Any) -> bool:
    """Moves a run on, unless somebody else has meanwhile: True where this call did it.

    Raises MayNotBecome where the table of states has no such step.
    """
    if status not in MAY_BECOME[RunStatus(run.status)]:
        raise MayNotBecome(f"a {run.status} run cannot become {status}")
    # The try is part of the comparison: a worker given up for dead must not end the run that replaced its own.
    mine = Run.objects.filter(pk=run.pk, status=run.status, tries=run.tries)
    if not mine.update(status=status, **fields):
        return False
    run.refresh_from_db()
    return True


def finish(run: Run, whole: WholeRun, now: datetime) -> bool:
    """Stores what a running run measured. False where the run is no longer this worker's."""
    return become(run, RunStatus.FINISHED, result=Run.packed(whole), finished_at=now)


def fail(run: Run, reason: str, now: datetime) -> bool:
    """Ends a run with the reason that the candidate sees. False where the run is no longer this worker's."""
    return become(run, RunStatus.FAILED, failure=reason, finished_at=now)


def record_progress(run: Run, progress: dict[str, Any]) -> None:
    Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, tries=run.tries).update(progress=progress)


def recover(now: datetime) -> list[Run]:
    """Runs left running by a worker that died: queued again once, then failed with a reason. Returns those moved."""
    expire(now)
    alive = living_workers(now)
    orphans = [run for run in Run.objects.running() if is_orphan(run, alive, now)]
    return [run for run in orphans if requeue_or_fail(run, now)]


def expire(now: datetime) -> int:
    """Ends runs that waited so long that nobody waits for them any more, as after a night without a worker."""
    old = Run.objects.queued().filter(created_at__lt=now - HORIZON, retried_at=None)
    return old.update(status=RunStatus.FAILED, failure=TOO_OLD, finished_at=now)


def requeue_or_fail(run: Run, now: datetime) -> bool:
    if run.tries >= MOST_TRIES:
        return fail(run, DIED_TWICE, now)
    fresh: dict[str, Any] = {"worker": "", "worker_pid": None, "started_at": None, "progress": {}}
    moved = become(run, RunStatus.QUEUED, retried_at=now, **fresh)
    if moved:
        ring()
    return moved


def living_workers(now: datetime) -> dict[str, WorkerHeartbeat]:
    """Workers by name that beat lately and whose process, where it is on this machine, still exists."""
    fresh = WorkerHeartbeat.objects.fresh(now - timedelta(seconds=HEARTBEAT_FRESH_S))
    return {beat.worker: beat for beat in fresh if not is_here(beat) or liveness.process_lives(beat.pid)}


def is_here(beat: WorkerHeartbeat) -> bool:
    """Whether a heartbeat's process ids mean something to this process."""
    return bool(beat.scope) and beat.scope == liveness.scope()


def is_orphan(run: Run, alive: dict[str, WorkerHeartbeat], now: datetime) -> bool:
    beat = alive.get(run.worker)
    if beat is None:
        return True
    if run.worker_pid is not None and is_here(beat) and not liveness.process_lives(run.worker_pid):
        return True
    return run.started_at is None or now - run.started_at > timedelta(seconds=LONGEST_RUN_S)


def expected_finish(run: Run, now: datetime) -> datetime:
    """When the run will end, or ended, by nominal times and the queue alone: what has really happened is not asked."""
    with transaction.atomic():
        asked = [as_asked(other) for other in recent_runs(now)]
    if all(other.id != run.pk for other in asked):
        return run.created_at + timedelta(seconds=run.nominal_s)
    return finishes(asked, machines=machines_alive(now))[run.pk]


def recent_runs(now: datetime) -> Iterable[Run]:
    fields = ("id", "created_at", "retried_at", "first_priority", "priority", "hurried_at", "nominal_s")
    return Run.objects.filter(created_at__gte=now - HORIZON).only(*fields)


def as_asked(run: Run) -> Asked:
    # A run taken up again stands in the queue anew; that its worker died says nothing about its cause.
    asked_at = run.retried_at or run.created_at
    return Asked(run.pk, asked_at, run.first_priority, run.priority, run.hurried_at, run.nominal_s)


def machines_alive(now: datetime) -> int:
    fresh = WorkerHeartbeat.objects.fresh(now - timedelta(seconds=HEARTBEAT_FRESH_S))
    return max(1, fresh.values("machine").distinct().count())


def live_enabled(now: datetime) -> bool:
    """Whether some lab worker is alive on a machine that can run the lab and passed its last self-check."""
    return any(can_measure(beat) for beat in living_workers(now).values())


def can_measure(beat: WorkerHeartbeat) -> bool:
    checked = SelfCheck.objects.last_of(beat.machine)
    able = all(beat.capabilities.get(name, {}).get("available", False) for name in LAB_NEEDS)
    return bool(able and checked is not None and checked.ok)


def run_of(run_id: UUID | str) -> Run | None:
    return Run.objects.filter(pk=run_id).first()
