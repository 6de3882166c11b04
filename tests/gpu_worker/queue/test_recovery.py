"""A run outlives its worker: it is taken up again once, then ends with a reason that the candidate sees."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from gpu_worker.models import Run, WorkerHeartbeat
from gpu_worker.serving import liveness, queue
from gpu_worker.specs import ExperimentSpec

pytestmark = pytest.mark.django_db

WAITS = "import sys; sys.stdin.readline()"


@pytest.fixture
def process():
    """A real process that stands for a worker; it ends with the test."""
    made = subprocess.Popen([sys.executable, "-c", WAITS], stdin=subprocess.PIPE)
    yield made
    made.kill()
    made.wait(10)


def beat(name: str, pid: int, at, scope: str | None = None) -> WorkerHeartbeat:
    return WorkerHeartbeat.objects.create(
        worker=name,
        machine=liveness.machine_id(),
        scope=liveness.scope() if scope is None else scope,
        pid=pid,
        at=at,
        started_at=at,
        capabilities={"namespaces": {"available": True}},
    )


def ask(now) -> Run:
    return queue.enqueue(ExperimentSpec(experiment="job"), priority=10, owner="ada", purpose="step", now=now)


def test_a_run_whose_worker_was_killed_is_queued_again_once_and_then_fails_with_a_reason(process):
    now = timezone.now()
    beat("w", process.pid, now)
    ask(now)
    run = queue.claim(now, worker="w", pid=process.pid)
    assert run is not None
    assert queue.recover(now) == []

    process.kill()
    process.wait(10)
    assert [moved.pk for moved in queue.recover(now)] == [run.pk]
    run.refresh_from_db()
    assert (run.status, run.worker, run.retried_at) == ("queued", "", now)

    again = queue.claim(now, worker="w", pid=process.pid)
    assert again is not None and again.tries == 2
    queue.recover(now)
    run.refresh_from_db()
    assert (run.status, run.failure) == ("failed", queue.DIED_TWICE)
    assert queue.recover(now) == []


def test_a_run_whose_pool_child_was_killed_is_recovered_while_its_worker_lives(process):
    now = timezone.now()
    beat("w", os.getpid(), now)
    ask(now)
    queue.claim(now, worker="w", pid=process.pid)
    assert queue.recover(now) == []
    process.kill()
    process.wait(10)
    assert len(queue.recover(now)) == 1


def test_a_worker_on_another_machine_is_given_up_only_when_its_beat_is_old():
    now = timezone.now()
    beat("far", 1, now, scope="another boot")
    ask(now)
    queue.claim(now, worker="far", pid=2)
    assert queue.recover(now) == []
    assert len(queue.recover(now + timedelta(seconds=queue.HEARTBEAT_FRESH_S + 1))) == 1


def test_a_run_past_every_time_limit_is_recovered_even_from_a_living_worker():
    now = timezone.now()
    beat("w", os.getpid(), now + timedelta(seconds=queue.LONGEST_RUN_S))
    ask(now)
    queue.claim(now, worker="w", pid=os.getpid())
    assert len(queue.recover(now + timedelta(seconds=queue.LONGEST_RUN_S + 1))) == 1


def test_a_run_taken_up_again_stands_in_the_queue_anew():
    now = timezone.now()
    ask(now)
    run = queue.claim(now, worker="gone")
    assert run is not None
    later = now + timedelta(seconds=60)
    queue.recover(later)
    run.refresh_from_db()
    assert queue.expected_finish(run, later) == later + timedelta(seconds=run.nominal_s)


def test_what_waited_a_night_for_a_worker_is_given_up_with_a_reason():
    now = timezone.now()
    run = ask(now)
    queue.recover(now + queue.HORIZON / 2)
    run.refresh_from_db()
    assert run.status == "queued"
    queue.recover(now + queue.HORIZON + timedelta(seconds=1))
    run.refresh_from_db()
    assert (run.status, run.failure) == ("failed", queue.TOO_OLD)
