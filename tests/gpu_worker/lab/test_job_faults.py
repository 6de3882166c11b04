"""Faults of the input and of the job itself, really run: they fire, show where they must, and spare the rest.

Two faults that do not touch each other share a run.
"""

from __future__ import annotations

from statistics import median

import pytest

from gpu_worker.metrics import METRICS
from gpu_worker.probes import PROBES, _job
from gpu_worker.specs import Fault, Job, Setting, Topology, WholeRun
from tests.gpu_worker.lab.conftest import healthy_jobs

pytestmark = pytest.mark.lab

SHORT = Setting(job=Job(measured_steps=2, warmup_steps=1))
ONE_STEP = Setting(job=Job(measured_steps=1, warmup_steps=1))
TWO = Setting(placement=(0, 1), baseline_placement=(0, 1), job=Job(measured_steps=3, warmup_steps=1))
THIN = TWO.model_copy(update={"topology": Topology(link_rate=60_000_000), "job": SHORT.job})


def finding(run: WholeRun, probe: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, {}))


def by_rank(run: WholeRun, *phases: str) -> list[float]:
    """Median over steps of the sum of these phases, of each rank."""
    return [median(sum(step[f"{phase}_s"] for phase in phases) for step in rank["steps"]) for rank in run.ranks]


def test_a_healthy_job_runs_the_buckets_that_the_rule_predicts_on_even_batches(run):
    taken = run("job")
    assert finding(taken, "bucket-sizes") == "as-planned"
    assert finding(taken, "batch-identity") == "even"
    assert all("computed" not in rank for rank in taken.ranks)


def test_tiny_buckets_and_a_skewed_shard_each_show_in_their_own_place(run):
    taken = run("job", Fault(cause="small-buckets"), Fault(cause="skewed-shard", place="rank:2"))
    assert taken.fired["small-buckets"]["collectives_a_step"] == 54
    assert taken.fired["skewed-shard"]["tokens_over_peers"] == 3.5
    assert finding(taken, "bucket-sizes") == "many-small"
    assert finding(taken, "batch-identity") == "one-rank-more"
    assert finding(taken, "per-rank-step-times") == "one-rank-slow-compute"


def test_reads_in_the_step_are_collectives_that_nobody_planned(run):
    taken = run("job", Fault(cause="per-step-sync"), Fault(cause="same-shard"), setting=SHORT)
    assert finding(taken, "bucket-sizes") == "unplanned-collectives"
    assert finding(taken, "batch-identity") == "same-samples"
    assert finding(taken, "per-rank-step-times") == "even"
    step_s = median(by_rank(taken, "total"))
    assert any(step_s > 1.25 * median(by_rank(healthy, "total")) for healthy in healthy_jobs(run))


@pytest.mark.long
def test_another_precision_has_its_bytes_and_another_accumulation_its_samples(run):
    taken = run("job", Fault(cause="communication-precision"), Fault(cause="accumulation-changed"), setting=SHORT)
    assert taken.size_bytes == 2 * run("job").size_bytes
    assert finding(taken, "bucket-sizes") == "other-bytes"
    assert finding(taken, "batch-identity") == "other-batch"


@pytest.mark.long
def test_workers_that_decode_on_demand_make_every_rank_wait_alike(run):
    taken = run("job", Fault(cause="slow-loader"), Fault(cause="uneven-sequences"))
    assert finding(taken, "input-timings") == "even"
    assert finding(taken, "batch-identity") == "uneven-steps"
    assert min(by_rank(taken, "input")) > 20 * max(by_rank(run("job"), "input"))
    # What the workers spent is the run's own: it was not taken for another process's work.
    assert taken.provenance["foreign_cpu_share"] < 0.1


@pytest.mark.long
def test_a_store_that_hosts_share_matters_and_names_no_rank(run):
    taken = run("synthetic-batch", Fault(cause="shared-storage"), setting=SHORT)
    assert finding(taken, "synthetic-batch") == "input-matters"
    assert max(by_rank(taken, "input")) < 1.3 * min(by_rank(taken, "input"))


@pytest.mark.long
def test_slow_kernels_and_many_launches_are_told_apart_where_input_does_not_matter(run):
    slow = run("synthetic-batch", Fault(cause="slower-compute-everywhere"), setting=ONE_STEP)
    gaps = run("synthetic-batch", Fault(cause="launch-gaps"), setting=ONE_STEP)
    assert finding(slow, "synthetic-batch") == "slow-kernels"
    assert finding(gaps, "synthetic-batch") == "gaps-between-kernels"
    assert finding(run("synthetic-batch", setting=ONE_STEP), "synthetic-batch") == "input-does-not"


def test_timers_around_backward_agree_although_one_rank_has_more_to_do_in_it(run):
    """traceml#252: the reduction inside backward equalises it; the time before the reduction does not lie."""
    taken = run("job", Fault(cause="extra-backward-work", place="rank:2"))
    around = by_rank(taken, "backward", "exposed")  # what a timer around the call reads
    own, waits = by_rank(taken, "backward"), by_rank(taken, "exposed")
    assert max(around) < 1.15 * min(around)
    assert own[2] > 1.3 * median(own[:2] + own[3:])
    assert min(range(4), key=lambda rank: waits[rank]) == 2
    assert finding(taken, "per-rank-step-times") == "one-rank-slow-compute"
    assert finding(taken, "collective-arrivals") == "one-rank-late"


def test_the_delay_of_one_ranks_input_appears_in_the_others_backward(run):
    """One rank a core, so that nobody gains from the late one's idle core. Backward is as a timer around it reads it:
    its last part, exposed communication, is where the others wait."""
    healthy = run("job", setting=TWO)
    late = run("job", Fault(cause="slow-input-rank", place="rank:1", params={"bytes_per_s": 260e3}), setting=TWO)
    delay = by_rank(late, "input")[1] - by_rank(healthy, "input")[1]
    grown = [b - a for a, b in zip(*(by_rank(one, "backward", "exposed") for one in (healthy, late)), strict=True)]
    assert delay > 0.2
    assert 0.85 < grown[0] / delay < 1.15
    assert abs(grown[1]) < 0.3 * delay  # the late rank itself waits for nobody
    scores = {s.of: median(s.values) for s in METRICS["busy-score"].read(late)}
    assert min(scores, key=lambda of: scores[of]) == "rank 1"


def test_two_hosts_slower_than_one_and_never_idle_are_explained_by_their_bytes(run):
    """nccl#318: the gradient needs longer on the wire than the step computes. That a device is busy all the time says
    nothing, for a collective that waits counts as busy."""
    taken = run("job", setting=THIN)
    (together,) = METRICS["samples-per-second"].read(taken)
    alone = [8 / seconds for seconds in by_rank(taken, "input", "forward", "backward", "optimizer")]
    assert median(together.values) < 0.7 * min(alone)
    assert min(busy_share(step) for rank in taken.ranks for step in rank["steps"]) > 0.95
    (of_floor,) = METRICS["busbw-over-floor"].read(taken)
    assert median(of_floor.values) > 0.85


def busy_share(step: dict) -> float:
    """Share of a step in which something computes or a collective is in flight, as a device's utilisation counts it."""
    computed = step["start"] + step["input_s"]
    window, end = _job.backward_window(step), step["start"] + step["total_s"]
    busy = [(computed, window[1]), *_job.flights(step), (end - step["optimizer_s"], end)]
    return _job.length(busy) / step["total_s"]
