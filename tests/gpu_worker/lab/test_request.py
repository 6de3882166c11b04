"""The words of `lab run` become a spec, or a sentence that says what to type."""

from __future__ import annotations

import pytest

from gpu_worker.errors import BadSpec
from gpu_worker.lab.request import Request, parameters_of, spec_of
from gpu_worker.specs import Job, parse_key


def test_sizes_rates_and_faults_are_read_with_their_units():
    spec = spec_of(
        Request("microbenchmark", size="14MB", rate="400Mbit", faults=["degraded-link:rate=100Mbit"], repeats=3)
    )
    assert spec.size_bytes == 14_000_000
    assert spec.setting.topology.link_rate == 400_000_000
    assert spec.faults[0].params == {"rate": 1e8}
    assert spec.key == "microbenchmark[placement=as-job,size=job]"


def test_any_parameter_of_a_probe_can_be_given_by_name():
    request = Request("microbenchmark", parameters=["size=small", "placement=packed"])
    assert spec_of(request).key == "microbenchmark[placement=packed,size=small]"
    assert parameters_of(Request("link-rates", parameters=["scope=suspects"])) == {"scope": "suspects"}


def test_a_key_is_read_back_into_its_parts():
    assert parse_key("job") == ("job", {})
    assert parse_key("microbenchmark[placement=as-job,size=job]") == (
        "microbenchmark",
        {"placement": "as-job", "size": "job"},
    )


def test_the_slow_networks_keep_their_share_of_another_rate():
    topology = spec_of(Request("microbenchmark", rate="2Gbit")).setting.topology
    assert topology.management_rate == topology.far_uplink_rate == 800_000_000


def test_eight_ranks_fit_the_near_leaves():
    setting = spec_of(Request("microbenchmark", ranks=8)).setting
    assert setting.topology.hosts_per_leaf == 4
    assert setting.placement == tuple(range(8))


def test_a_probe_of_the_job_runs_the_job():
    assert spec_of(Request("per-rank-step-times", faults=["throttled-rank:duty=0.3"])).faults[0].place == "rank:1"


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request("gossip"), "no probe 'gossip'; the lab has"),
        (Request("microbenchmark", size="banana"), "--size"),
        (Request("microbenchmark", rate="400"), "--rate"),
        (Request("microbenchmark", ranks=1), "--ranks is 1"),
        (Request("microbenchmark", ranks=99), "--ranks is 99"),
        (Request("microbenchmark", topology="torus"), "must be leaf-spine or two-tier or flat"),
        (Request("microbenchmark", placement="elsewhere"), "--placement is 'elsewhere'"),
        (Request("microbenchmark", scope="all"), "has no --scope"),
        (Request("microbenchmark", repeats=0), "repeats"),
        (Request("microbenchmark", faults=["degraded-link:speed=1"]), "no parameter 'speed=1'"),
        (Request("microbenchmark", faults=["degraded-link:rate=soon"]), "degraded-link:rate"),
        (Request("microbenchmark", places=["rank:1"]), "belongs to no --fault"),
        (Request("per-rank-step-times", size="14MB"), "leave --size out"),
        (Request("link-rates", parameters=["scope"]), "write name=value"),
        (Request("link-rates", parameters=["scope=some"]), "--with scope is 'some', but must be suspects or all"),
        (Request("link-rates", parameters=["depth=2"]), "has no --with depth; it has scope"),
        (Request("link-rates", scope="all", parameters=["scope=suspects"]), "scope is given twice"),
    ],
)
def test_words_that_do_not_fit_are_refused(request_, said):
    with pytest.raises(BadSpec, match=said):
        spec_of(request_)


def test_a_job_is_the_plain_one_unless_a_field_or_a_fault_asks_for_more():
    assert spec_of(Request("scaling-ladder")).setting.job == Job()
    given = ["measured_steps=3", "warmup_steps=1", "parallel.form=fsdp2"]
    job = spec_of(Request("scaling-ladder", job=given)).setting.job
    assert (job.measured_steps, job.warmup_steps, job.parallel.form) == (3, 1, "fsdp2")
    setting = spec_of(Request("per-rank-step-times", faults=["hot-expert"], job=["measured_steps=2"])).setting
    assert (setting.job.parallel.form, setting.job.measured_steps) == ("expert", 2)
    assert setting.baseline_job == setting.job


@pytest.mark.parametrize(
    "text", ["measured_steps", "steps=3", "parallel=fsdp2", "parallel.form=zigzag", "warmup_steps=0"]
)
def test_a_job_field_that_is_not_there_or_out_of_bounds_is_refused(text):
    with pytest.raises(BadSpec, match="--job"):
        spec_of(Request("scaling-ladder", job=[text]))
