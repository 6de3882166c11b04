"""What a lab worker does when the doorbell rings: claim one run, measure, store. Runs in the pool's child process."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction

from gpu_worker.errors import LabError
from gpu_worker.lab.capabilities import lab_can_run
from gpu_worker.models import Run, SelfCheck
from gpu_worker.serving import queue, stream
from gpu_worker.serving.liveness import machine_id
from gpu_worker.specs import WholeRun

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Experiment = Callable[..., WholeRun]

PROGRESS_EVERY_S = 1.0
SELF_CHECK_LASTS = timedelta(days=7)
FAILED_CHECK_LASTS = timedelta(minutes=30)

TOO_LONG = "The experiment did not end within its time and was stopped."
OURS = "The experiment failed for a reason of ours, not yours; it has been logged."


def worker_name() -> str:
    """The worker that this process serves for, as its heartbeat says it; a name of its own outside a worker."""
    from gpu_worker.serving import watch

    return watch.name_of_worker() or f"{machine_id()}-{os.getpid()}"


def serve_one(clock: Clock, experiment: Experiment | None = None) -> bool:
    """Claims and carries out the most urgent run. True where there was one.

    A machine that cannot run the lab claims nothing: another may, and the bank answers meanwhile.
    """
    if experiment is None and not lab_can_run()[0]:
        return False
    run = queue.claim(clock(), worker=worker_name(), pid=os.getpid())
    if run is None:
        return False
    carry_out(run, clock, experiment or lab_experiment())
    return True


def lab_experiment() -> Experiment:
    """Imported only where runs are served: it starts the launcher's side of the lab."""
    from gpu_worker.lab.run import run_experiment

    return run_experiment


def carry_out(run: Run, clock: Clock, experiment: Experiment) -> None:
    """Runs one claimed experiment to its end; whatever happens, the row says how it ended."""
    try:
        whole = experiment(run.experiment_spec, progress=Throttled(run))
    except LabError as known:
        ended = queue.fail(run, known.reason, clock())
    except SoftTimeLimitExceeded:
        ended = queue.fail(run, TOO_LONG, clock())
    except Exception:
        log.exception("run %s failed", run.pk)
        ended = queue.fail(run, OURS, clock())
    else:
        ended = queue.finish(run, whole, clock())
    if ended:
        transaction.on_commit(lambda: stream.publish(run))


class Throttled:
    """Writes a run's progress to its row, at most once a second: writing more would disturb what is measured."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.written_at = 0.0

    def __call__(self, progress: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self.written_at >= PROGRESS_EVERY_S:
            self.written_at = now
            queue.record_progress(self.run, progress)


def make_ready(clock: Clock) -> None:
    """Starts the launcher, so that no candidate waits for it, and checks this machine where that is due."""
    from gpu_worker.lab import run as lab
    from gpu_worker.lab.selfcheck import check_and_store

    try:
        lab.warm_up()
    except LabError as unavailable:
        log.warning("the lab cannot be made ready: %s", unavailable)
        return
    if check_is_due(clock()):
        stored = check_and_store(clock())
        log.info("this machine's self-check %s", "passed" if stored.ok else f"failed: {stored.details}")


def check_is_due(now: datetime) -> bool:
    """Whether this machine's last self-check is missing or too old; a failed one is repeated sooner."""
    last = SelfCheck.objects.last_of(machine_id())
    return last is None or now - last.at > (SELF_CHECK_LASTS if last.ok else FAILED_CHECK_LASTS)
