"""Exchanged hosts, planned: pure."""

from __future__ import annotations

import pytest

from gpu_worker.experiments.host_swap import exchanged
from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import ExperimentSpec, Fault, Setting, Topology


def planned(*faults: Fault, experiment: str = "host-swap", **more):
    return plan_run(ExperimentSpec.model_validate({"experiment": experiment, "faults": faults, **more}))


@pytest.mark.parametrize(
    ("hosts", "leaves", "after"),
    [
        ((0, 1, 2, 3), (0, 0, 1, 1), (1, 0, 3, 2)),
        ((1, 0, 3, 2), (0, 0, 1, 1), (0, 1, 2, 3)),
        ((0, 1, 2, 4), (0, 0, 1, 2), (1, 0, 2, 4)),
        ((0, 1, 2), (0, 0, 0), (1, 2, 0)),
        ((0, 2, 4), (0, 1, 2), (2, 4, 0)),
    ],
)
def test_ranks_of_a_leaf_take_each_others_hosts_and_the_job_keeps_its_own(hosts, leaves, after):
    assert exchanged(hosts, leaves) == after
    assert sorted(after) == sorted(hosts)


def test_what_is_bound_to_a_host_stays_there_and_what_is_bound_to_a_rank_goes_with_it():
    plan = planned(Fault(cause="throttled-rank", place="rank:1"), Fault(cause="skewed-shard", place="rank:2"))
    before, after = plan.to_order()["phases"]
    assert [rank["host"] for rank in before["ranks"]] == [0, 1, 2, 3]
    assert [rank["host"] for rank in after["ranks"]] == [1, 0, 3, 2]
    assert [act["host"] for act in plan.to_order()["acts"]] == [1]  # rank 0 will be there
    for phase in (before, after):
        assert [rank["job"]["windows"] for rank in phase["ranks"]] == [1.0, 1.0, 3.5, 1.0]


def test_the_slow_store_of_a_rank_serves_it_wherever_it_runs():
    assert planned(Fault(cause="slow-input-rank", place="rank:3")).source_rates.keys() == {3}


def test_a_fault_of_the_fabric_is_met_again_on_exchanged_hosts_but_not_asked_of_a_packed_job():
    fault = Fault(cause="degraded-link", place="link:leaf0-spine1")
    assert [phase["must_cross"] for phase in planned(fault).to_order()["phases"]] == [["leaf0-spine1"]] * 2
    baseline = planned(fault, experiment="single-node-baseline").to_order()["phases"]
    assert [phase["must_cross"] for phase in baseline] == [["leaf0-spine1"], []]


def test_a_flat_fabric_turns_all_ranks_round():
    flat = Setting(topology=Topology(kind="flat", hosts=4))
    assert planned(setting=flat).phases[1].hosts == (1, 2, 3, 0)


def test_the_job_alone_looks_back_on_its_memory():
    asked = {name: planned(experiment=name).to_order()["phases"][0]["afterwards"] for name in ("job", "host-swap")}
    assert asked == {"job": True, "host-swap": False}
