"""The answer rule: live, from the bank, padded to nominal times; one run for one experiment; two pending at most."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gpu_worker.experiments import nominal_s
from gpu_worker.models import Evidence, Run
from gpu_worker.probes import PROBES
from gpu_worker.serving import queue
from gpu_worker.specs import WholeRun
from scenarios import bank, evidence, offered

pytestmark = pytest.mark.django_db

JOB_S = nominal_s("job")
MICRO_S = nominal_s("microbenchmark")
AS_JOB = {"size": "job", "placement": "as-job"}
PACKED = {"size": "job", "placement": "packed"}


def after(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)


def ask(instance, now, step="per-rank-step-times", with_=None, **more) -> Evidence:
    return evidence.request("ada", instance, step, with_ or {}, now=now, **more)


def lab_finishes(instance, at: datetime, effect="nothing") -> Run:
    """The worker claims the most urgent run and it ends, with a really measured result."""
    run = queue.claim(at, worker="w")
    assert run is not None
    whole: WholeRun = bank.whole_run(instance.table, instance.id, run.experiment, effect)
    assert queue.finish(run, whole, at)
    return run


def test_without_a_lab_the_bank_answers_at_once(instance, now):
    row = ask(instance, now)
    assert (row.live, row.ready_at) == (False, now)
    assert evidence.settle(row, now=now)
    assert row.finding == "even"
    assert not Run.objects.exists()


def test_with_an_idle_lab_the_own_run_answers_after_its_nominal_time_and_no_sooner(instance, now, lab_is_live):
    lab_is_live(now)
    row = ask(instance, now)
    assert (row.live, row.ready_at) == (True, after(now, JOB_S))
    run = lab_finishes(instance, after(now, 3))
    assert not evidence.settle(row, now=after(now, JOB_S - 0.1))
    assert evidence.settle(row, now=after(now, JOB_S))
    assert (row.run_id, row.live, row.note) == (run.pk, True, "")


def test_a_stale_heartbeat_means_no_lab(instance, now, lab_is_live):
    lab_is_live(now)
    assert not ask(instance, after(now, queue.HEARTBEAT_FRESH_S + 1)).live


def test_a_failed_self_check_means_no_lab(instance, now, lab_is_live):
    from gpu_worker.models import SelfCheck
    from gpu_worker.serving import liveness

    lab_is_live(now)
    SelfCheck.objects.create(machine=liveness.machine_id(), ok=False, at=after(now, 1))
    assert not ask(instance, after(now, 2)).live


def test_what_was_prefetched_long_ago_is_shown_at_once(instance, now, lab_is_live):
    lab_is_live(now)
    evidence.open_for("ada", instance, now=now)
    assert [run.experiment for run in Run.objects.queued()] == list(offered.FIRST)
    lab_finishes(instance, after(now, 12))
    later = after(now, 60)
    lab_is_live(later)
    row = ask(instance, later)
    assert (row.live, row.ready_at) == (True, later)


def test_a_chosen_step_hurries_its_prefetch(instance, now, lab_is_live):
    lab_is_live(now)
    evidence.open_for("ada", instance, now=now)
    evidence.request("grace", instance, "library-choices", {}, now=now)
    ask(instance, after(now, 1), "microbenchmark", AS_JOB)
    run = Run.objects.get(owner="ada", experiment__startswith="microbenchmark")
    assert (run.priority, run.first_priority) == (queue.STEP, queue.PREFETCH)


def test_a_long_queue_means_the_bank_and_leaves_no_needless_run(instance, now, lab_is_live):
    lab_is_live(now)
    for owner in ("grace", "ivan"):
        evidence.request(owner, instance, "per-rank-step-times", {}, now=now, purpose="verify", effect="cures")
    before = Run.objects.count()
    row = ask(instance, after(now, 1))
    assert (row.live, row.ready_at) == (False, after(now, 1))
    assert Run.objects.count() == before


def test_a_run_that_is_late_is_answered_by_the_bank_and_the_candidate_is_told(instance, now, lab_is_live):
    lab_is_live(now)
    row = ask(instance, now)
    assert evidence.settle(row, now=after(now, JOB_S))
    assert (row.live, row.run, row.note) == (False, None, evidence.SLOWER_THAN_PLANNED)


def test_a_fault_that_did_not_fire_is_not_named_to_the_candidate(instance, now, lab_is_live):
    lab_is_live(now)
    row = ask(instance, now)
    run = queue.claim(now, worker="w")
    assert run is not None
    queue.fail(run, "link:host1-leaf0 should run at 150 Mb/s", now)
    evidence.settle(row, now=after(now, JOB_S))
    assert (row.live, row.note) == (False, evidence.NO_RESULT)


def test_a_run_whose_worker_died_is_waited_for_once_more(instance, now, lab_is_live):
    lab_is_live(now)
    row = ask(instance, now)
    assert queue.claim(after(now, 1), worker="gone") is not None
    lab_is_live(after(now, 10))
    queue.recover(after(now, 10))
    assert not evidence.settle(row, now=after(now, JOB_S))
    assert row.ready_at == after(now, 10 + JOB_S)
    lab_finishes(instance, after(now, 20))
    assert evidence.settle(row, now=row.ready_at)
    assert (row.live, row.note) == (True, evidence.TAKEN_UP_AGAIN)


def test_later_steps_on_an_experiment_read_the_run_that_answered_first(instance, now, lab_is_live):
    lab_is_live(now)
    first = ask(instance, now)
    run = lab_finishes(instance, after(now, 5))
    evidence.settle(first, now=after(now, JOB_S))
    second = ask(instance, after(now, 40), "host-telemetry")
    assert second.ready_at == after(now, 40)
    assert evidence.settle(second, now=after(now, 40))
    assert (second.run_id, second.live) == (run.pk, True)


def test_two_pending_steps_on_one_experiment_read_one_run_whenever_they_are_settled(instance, now, lab_is_live):
    lab_is_live(now)
    first, second = ask(instance, now), ask(instance, now, "host-telemetry")
    evidence.settle(first, now=after(now, JOB_S))
    lab_finishes(instance, after(now, JOB_S + 1))
    evidence.settle(second, now=after(now, JOB_S + 2))
    assert (first.live, second.live) == (False, False)


def test_two_steps_may_be_pending_and_a_third_must_wait(instance, now, lab_is_live):
    lab_is_live(now)
    ask(instance, now)
    ask(instance, now, "microbenchmark", AS_JOB)
    with pytest.raises(evidence.TooManyPending, match="wait until one of them is shown"):
        ask(instance, now, "placement-map")
    assert ask(instance, now).pk == Evidence.objects.get(step="per-rank-step-times").pk


def test_a_step_asked_for_twice_while_it_is_pending_is_one(instance, now, lab_is_live):
    lab_is_live(now)
    assert ask(instance, now).pk == ask(instance, after(now, 2)).pk
    assert Evidence.objects.count() == 1


def test_two_tabs_that_settle_show_the_same(instance, now):
    row = ask(instance, now)
    other_tab = Evidence.objects.get(pk=row.pk)
    assert evidence.settle(row, now=now)
    assert evidence.settle(other_tab, now=after(now, 1))
    assert (other_tab.finding, other_tab.shown_at) == (row.finding, row.shown_at)


def test_after_a_fix_the_lab_runs_again_without_the_fault(instance, now, lab_is_live):
    lab_is_live(now)
    before = ask(instance, now, "microbenchmark", AS_JOB)
    lab_finishes(instance, after(now, 5))
    evidence.settle(before, now=before.ready_at)
    fixed_at = after(now, 60)
    lab_is_live(fixed_at)
    row = ask(instance, fixed_at, "microbenchmark", AS_JOB, purpose="verify", effect="cures")
    run = Run.objects.queued().get()
    assert (run.spec["faults"], run.priority, run.state) == ([], queue.VERIFY, evidence.state_after("cures"))
    lab_finishes(instance, after(fixed_at, 5), "cures")
    assert evidence.settle(row, now=row.ready_at)
    assert (before.finding, row.finding, row.live) == ("below-floor", "at-floor", True)


def test_a_fix_that_does_nothing_runs_the_lab_again_with_the_fault(instance, now, lab_is_live):
    lab_is_live(now)
    evidence.settle(ask(instance, now), now=after(now, JOB_S))
    later = after(now, 60)
    lab_is_live(later)
    row = ask(instance, later, purpose="verify", effect="nothing")
    assert row.ready_at == after(later, JOB_S)
    assert Run.objects.get(state=row.state).spec["faults"] == Run.objects.get(state="").spec["faults"] != []


def test_without_a_lab_a_cure_is_verified_from_the_bank(instance, now):
    job = ask(instance, now, purpose="verify", effect="cures")
    micro = ask(instance, now, "microbenchmark", AS_JOB, purpose="verify", effect="cures")
    assert evidence.settle(job, now=now) and evidence.settle(micro, now=now)
    assert micro.finding == "at-floor"
    assert not evidence.view(job).live


@pytest.mark.parametrize(
    ("step", "with_", "error", "said"),
    [
        ("link-rate", {}, evidence.UnknownStep, 'did you mean "link-rates"'),
        ("resume-replay", {}, evidence.UnknownStep, "cannot be measured yet"),
        ("microbenchmark", {"size": "job"}, evidence.BadParameter, "as-job, packed, which was not given"),
        ("microbenchmark", {**AS_JOB, "size": "huge"}, evidence.BadParameter, 'small, job, not "huge"'),
        ("link-rates", {"scope": "all", "x": "1"}, evidence.BadParameter, 'no parameter "x"'),
    ],
)
def test_an_unknown_step_or_parameter_is_refused_with_the_choices(instance, now, monkeypatch, step, with_, error, said):
    monkeypatch.delitem(PROBES, "resume-replay", raising=False)  # as if it had no probe
    with pytest.raises(error, match=said):
        ask(instance, now, step, with_)
    assert not Evidence.objects.exists()


def test_progress_counts_nominal_seconds_and_nothing_else(instance, now, lab_is_live):
    lab_is_live(now)
    row = ask(instance, now)
    lab_finishes(instance, after(now, 2))
    assert evidence.progress(row, now=after(now, JOB_S / 2)) == {
        "share": 0.5,
        "seconds_left": JOB_S / 2,
        "live": True,
        "text": f"Measuring on the lab, about {JOB_S / 2:.0f} s left",
    }


def test_what_is_not_shown_has_no_view(instance, now, lab_is_live):
    lab_is_live(now)
    with pytest.raises(ValueError, match="not shown yet"):
        evidence.view(ask(instance, now))


def test_what_the_bank_once_answered_stays_when_the_bank_is_made_anew(instance, now, monkeypatch, tmp_path):
    row = ask(instance, now)
    evidence.settle(row, now=now)
    before = evidence.view(row)
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    assert evidence.view(row) == before
