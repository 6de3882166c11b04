"""What a lab worker does when the doorbell rings: claim one run, measure, store. Runs in the pool's child process."""

from __future__ import annotations

import importlib
import logging
import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction

from gpu_worker import machine, queue, stream
from gpu_worker.models import Run, SelfCheck
from gpu_worker.specs import ExperimentSpec, WholeRun

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Experiment = Callable[..., WholeRun]

# A run that the machine was taken away from is repeated, within the task's time.
MOST_DISTURBED = 2
PROGRESS_EVERY_S = 1.0
SELF_CHECK_LASTS = timedelta(days=7)
FAILED_CHECK_LASTS = timedelta(minutes=30)

TOO_LONG = "The experiment did not end within its time and was stopped."
OURS = "The experiment failed for a reason of ours, not yours; it has been logged."


def worker_name() -> str:
    """The worker that this process serves for, as its heartbeat says it; a name of its own outside a worker."""
    from gpu_worker import watch

    return watch.name_of_worker() or f"{machine.fingerprint()}-{os.getpid()}"


def serve_one(clock: Clock, experiment: Experiment | None = None) -> bool:
    """Claims and carries out the most urgent run. True where there was one."""
    run = queue.claim(clock(), worker=worker_name(), pid=os.getpid())
    if run is None:
        return False
    carry_out(run, clock, experiment or lab_experiment())
    return True


def lab_experiment() -> Experiment:
    lab: Any = importlib.import_module("gpu_worker.lab")
    return lab.run_experiment


def carry_out(run: Run, clock: Clock, experiment: Experiment) -> None:
    """Runs one claimed experiment to its end; whatever happens, the row says how it ended."""
    from gpu_worker.errors import LabError

    try:
        whole = measure(run.experiment_spec, Throttled(run), experiment)
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


def measure(spec: ExperimentSpec, progress: Callable[[dict], None], experiment: Experiment) -> WholeRun:
    """The experiment, repeated while the machine was taken from it, at most `MOST_DISTURBED` times in all."""
    from gpu_worker.errors import RunDisturbed

    for _ in range(MOST_DISTURBED - 1):
        try:
            return experiment(spec, progress=progress)
        except RunDisturbed as disturbed:
            log.info("an experiment is repeated: %s", disturbed)
    return experiment(spec, progress=progress)


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


def check_is_due(now: datetime) -> bool:
    """Whether this machine's last self-check is missing or too old; a failed one is repeated sooner."""
    last = SelfCheck.objects.last_of(machine.fingerprint())
    return last is None or now - last.at > (SELF_CHECK_LASTS if last.ok else FAILED_CHECK_LASTS)
