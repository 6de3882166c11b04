"""Rows are claimed once, moved by a table of states, and bounded in number."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gpu_worker.models import MAY_BECOME, Run, RunStatus
from gpu_worker.serving import queue
from gpu_worker.specs import ExperimentSpec

pytestmark = pytest.mark.django_db

JOB = ExperimentSpec(experiment="job")
MICRO = ExperimentSpec.model_validate({"experiment": "microbenchmark", "with": {"size": "job", "placement": "as-job"}})


def ask(now: datetime, *, priority: int = queue.PREFETCH, owner: str = "ada", spec: ExperimentSpec = JOB) -> Run:
    return queue.enqueue(spec, priority=priority, owner=owner, purpose="step", now=now)


def test_the_table_of_states_covers_every_state():
    assert set(MAY_BECOME) == set(RunStatus)
    assert all(after in set(RunStatus) for reachable in MAY_BECOME.values() for after in reachable)


def test_the_most_urgent_run_is_claimed_first_and_then_the_oldest(now):
    later = ask(now + timedelta(seconds=1))
    first = ask(now)
    urgent = ask(now + timedelta(seconds=2), priority=queue.VERIFY, spec=MICRO)
    claimed = [queue.claim(now) for _ in range(3)]
    assert [run.pk for run in claimed if run] == [urgent.pk, first.pk, later.pk]
    assert queue.claim(now) is None


def test_a_claimed_run_is_running_and_counts_its_try(now):
    ask(now)
    run = queue.claim(now, worker="w1", pid=7)
    assert run is not None
    assert (run.status, run.tries, run.worker, run.worker_pid, run.started_at) == ("running", 1, "w1", 7, now)


def test_hurrying_moves_a_queued_run_ahead_and_leaves_others_alone(now):
    first, second = ask(now), ask(now + timedelta(seconds=1), spec=MICRO)
    queue.hurry(second, queue.STEP, now + timedelta(seconds=2))
    assert queue.claim(now).pk == second.pk  # type: ignore[union-attr]
    queue.hurry(second, queue.VERIFY, now + timedelta(seconds=3))
    second.refresh_from_db()
    first.refresh_from_db()
    assert second.priority == queue.STEP
    assert (first.priority, first.hurried_at) == (queue.PREFETCH, None)


def test_hurrying_never_makes_a_run_less_urgent(now):
    run = ask(now, priority=queue.VERIFY)
    queue.hurry(run, queue.STEP, now)
    run.refresh_from_db()
    assert (run.priority, run.hurried_at) == (queue.VERIFY, None)


def test_a_finished_run_becomes_nothing_else(now):
    ask(now)
    run = queue.claim(now)
    assert run is not None
    assert queue.fail(run, "for a reason", now)
    assert (run.status, run.failure) == ("failed", "for a reason")
    with pytest.raises(queue.MayNotBecome, match="a failed run cannot become queued"):
        queue.become(run, RunStatus.QUEUED)


def test_a_worker_given_up_for_dead_cannot_end_the_run_that_replaced_its_own(now):
    ask(now)
    stale = queue.claim(now, worker="gone")
    assert stale is not None
    queue.recover(now)
    fresh = queue.claim(now, worker="here")
    assert fresh is not None and fresh.pk == stale.pk
    assert not queue.fail(stale, "too late", now)
    fresh.refresh_from_db()
    assert (fresh.status, fresh.worker, fresh.tries) == ("running", "here", 2)


def test_one_owner_cannot_fill_the_queue(now):
    for second in range(queue.MOST_UNFINISHED_AN_OWNER):
        ask(now + timedelta(seconds=second))
    with pytest.raises(queue.QueueFull, match="of your experiments are unfinished"):
        ask(now)
    assert ask(now, owner="grace")


def test_all_owners_together_cannot_fill_the_lab(now):
    for number in range(queue.MOST_UNFINISHED):
        ask(now, owner=f"owner-{number}")
    with pytest.raises(queue.QueueFull, match="try again in a minute"):
        ask(now, owner="one-more")


def test_the_expected_end_ignores_what_really_happened(now):
    quick, slow = ask(now), ask(now + timedelta(seconds=1), spec=MICRO)
    expected = queue.expected_finish(slow, now)
    run = queue.claim(now)
    assert run is not None and run.pk == quick.pk
    queue.fail(run, "early", now + timedelta(seconds=2))
    assert queue.expected_finish(slow, now + timedelta(seconds=2)) == expected
    assert expected == now + timedelta(seconds=quick.nominal_s + slow.nominal_s)


def test_what_was_withdrawn_is_not_claimed(now):
    queue.withdraw(ask(now))
    assert queue.claim(now) is None
