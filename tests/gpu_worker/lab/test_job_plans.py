"""Faults of the input and of the job itself, planned: pure. What does not fit is refused in words that name it."""

from __future__ import annotations

import pytest

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults import FAULTS
from gpu_worker.faults.base import trained
from gpu_worker.jobs.shape import GRADIENT_BYTES, planned_buckets, reduced_bytes
from gpu_worker.lab.plan import plan_run
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, experiment_key

MINE = (
    *("accumulation-changed", "batch-changed", "communication-precision", "extra-backward-work", "launch-gaps"),
    *("per-step-sync", "same-shard", "shared-storage", "skewed-shard", "slow-loader", "slower-compute-everywhere"),
    *("small-buckets", "uneven-sequences"),
)


def planned(*faults: Fault, experiment: str = "job", **more):
    return plan_run(ExperimentSpec.model_validate({"experiment": experiment, "faults": faults, **more}))


@pytest.mark.parametrize("cause", MINE)
def test_a_fault_declares_steps_that_there_are_and_changes_something(cause):
    kind = FAULTS[cause]
    known = {experiment_key(probe.id, with_) for probe in PROBES.values() for with_ in variants(probe)}
    assert kind.shows and {*kind.shows, *kind.spares} <= known
    plan = planned(Fault(cause=cause, place="rank:1" if kind.place_kind == "rank" else None))
    assert plan.job != Job() or plan.phases[0].rank_job or plan.shared_sources


def test_one_ranks_fault_reaches_that_rank_alone():
    order = planned(Fault(cause="extra-backward-work", place="rank:2"), Fault(cause="skewed-shard", place="rank:1"))
    jobs = [rank["job"] for rank in order.to_order()["phases"][0]["ranks"]]
    assert [job["extra_backward"] for job in jobs] == [0, 0, 120, 0]
    assert [job["windows"] for job in jobs] == [1.0, 3.5, 1.0, 1.0]


def test_hosts_share_one_budget_of_their_store():
    plan = planned(Fault(cause="shared-storage", params={"hosts": 3, "bytes_per_s": 3e5}))
    assert plan.to_order()["shared_sources"] == [[[0, 1, 2], 3e5]]


def test_a_job_without_reading_keeps_its_faults_in_both_phases():
    plan = planned(Fault(cause="slower-compute-everywhere"), experiment="synthetic-batch")
    assert [phase.job.slow_blocks for phase in plan.phases] == [4, 4]
    assert [phase.job.synthetic for phase in plan.phases] == [False, True]


def test_the_bytes_of_a_step_follow_its_tensors_and_the_precision_they_travel_in():
    assert reduced_bytes(Job()) == GRADIENT_BYTES
    assert reduced_bytes(Job(communication_dtype="bfloat16")) == GRADIENT_BYTES / 2
    assert planned(setting=Setting(job=Job(small_tensors=112))).size_bytes == GRADIENT_BYTES + 112 * 1024


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(cause="small-buckets", params={"cap_bytes": 2}), "cap_bytes is 2.0, but must be 4 to 1000000 B"),
        (Fault(cause="per-step-sync", params={"reads": 4000}), "reads is 4000.0, but must be 1 to 400"),
        (Fault(cause="per-step-sync", place="rank:1"), "has no place"),
        (Fault(cause="shared-storage", params={"hosts": 5}), "hosts is 5, but the job has 4"),
        (Fault(cause="communication-precision", params={"bytes": 4}), "bytes is 4, but must be 2 or 8"),
        (Fault(cause="batch-changed", params={"samples": 8}), "must differ from the healthy run's 8"),
        (Fault(cause="accumulation-changed", params={"microbatches": 1}), "must differ from the healthy run's 1"),
        (Fault(cause="skewed-shard"), "needs a place from rank:0 to rank:3"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused_by_name_and_bound(fault, said):
    with pytest.raises(BadSpec, match=said):
        planned(fault)


def test_buckets_no_smaller_than_before_are_no_fault():
    setting = Setting(baseline_job=Job(bucket_cap_mb=0.25), job=Job(bucket_cap_mb=0.25))
    with pytest.raises(BadSpec, match="must be below the healthy run's 262144"):
        planned(Fault(cause="small-buckets", params={"cap_bytes": 300_000}), setting=setting)


def rank_with(tokens=896, ids=(1, 2), collectives=(), computed=None):
    step = {"tokens": tokens, "samples": 8, "sample_ids": list(ids), "collectives": list(collectives)}
    step |= {"start": 0.0, "input_s": 0.1, "input_bytes": 1000}
    return {"steps": [step, step], "computed": computed or {}}


@pytest.mark.parametrize(
    ("cause", "ranks"),
    [
        ("accumulation-changed", [rank_with()]),
        ("batch-changed", [rank_with()]),
        ("communication-precision", [rank_with(collectives=[{"bytes": GRADIENT_BYTES}])]),
        ("extra-backward-work", [rank_with(), rank_with()]),
        ("launch-gaps", [rank_with(computed={"sliced_products": 9}), rank_with()]),
        ("per-step-sync", [rank_with(collectives=[{"bytes": 4}])]),
        ("same-shard", [rank_with(), rank_with(ids=(3, 4))]),
        ("shared-storage", [rank_with(), rank_with(), rank_with(), rank_with()]),
        ("skewed-shard", [rank_with(), rank_with(tokens=1000)]),
        ("slow-loader", [rank_with(computed={"pairs_merged": 4}), rank_with()]),
        ("slower-compute-everywhere", [rank_with(computed={"double_products": 1})]),
        ("small-buckets", [rank_with(collectives=[{"bytes": GRADIENT_BYTES}])]),
        ("uneven-sequences", [rank_with(), rank_with()]),
    ],
)
def test_a_run_that_does_not_show_the_fault_at_work_is_refused(cause, ranks):
    raw = {"ranks": ranks, "setting": Setting().model_dump(), "job": Job(measured_steps=2, microbatch=9).model_dump()}
    with pytest.raises(FaultDidNotFire, match="should"):
        FAULTS[cause].fired(Fault(cause=cause, place="rank:1"), raw)


@pytest.mark.parametrize("steps", [36, [], [{"loss": 5.0}]], ids=["counted", "none", "saved"])
def test_only_steps_that_were_timed_prove_anything_about_the_job(steps):
    assert not trained({"ranks": [{"steps": steps}] * 4})
    assert not trained({"ranks": [{}] * 4})
    assert trained({"ranks": [{"steps": [{"input_s": 0.1}]}] * 4}) and not trained({"ranks": []})


def test_rounded_gradients_go_in_as_many_buckets_of_half_the_bytes():
    """DDP fills a bucket by what the model holds, whatever is sent of it."""
    whole, half = (planned_buckets(500, small_tensors=112, dtype=dtype) for dtype in ("float32", "bfloat16"))
    assert len(whole) > 100 and half == [size / 2 for size in whole]
