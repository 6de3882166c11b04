"""Draws stay within their ranges and are alike whatever the cause."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_worker.faults import kind_of
from gpu_worker.lab.plan import plan_run
from gpu_worker.probes.change_log import touched
from scenarios import draws, library, offered
from scenarios.format import LabSetting
from scenarios.instances import accepted_places, baseline_spec, faults_after, is_shared, spec_for, split_key

FLAGSHIP = library.get("slow-all-reduce")
BINDINGS = [None, *FLAGSHIP.causes]
# Each cause of each table once: scenarios that share one draw alike (test_sharing.py).
EVERY = {
    (one.table, bound.id if bound else "healthy"): (one, bound)
    for one in library.every()
    for bound in (None, *one.causes)
}


@pytest.mark.parametrize(("scenario", "binding"), EVERY.values(), ids=map("-".join, EVERY))
@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_a_draw_lies_within_its_ranges_and_the_lab_takes_it(scenario, binding, seed):
    drawn = draws.draw_instance(scenario, binding, 0, str(seed))
    low, high = draws.SLOW_RATES
    assert low <= drawn.setting.topology.far_uplink_rate <= high
    assert low <= drawn.setting.topology.management_rate <= high
    for placement in (drawn.setting.placement, drawn.setting.baseline_placement):
        first, second = (
            (placement[0::2], placement[1::2]) if scenario.setting.in_turn else (placement[:2], placement[2:])
        )
        assert [{*first}, {*second}] == [{*leaf} for leaf in scenario.setting.hosts]
    assert all(touched(drawn.setting).values())
    if binding is None:
        assert drawn.cause == "healthy" and drawn.place is None
        return
    assert drawn.place in binding.places if binding.places else drawn.place is None
    for name, ends in binding.params.items():
        assert min(ends) <= drawn.params[name] <= max(ends)
    for state in ("nothing", *drawn.trials):
        for fault in faults_after(drawn, state):
            kind_of(fault).plan(drawn.setting, fault)


def test_the_same_seed_draws_the_same_instance():
    one, two = (draws.draw_instance(FLAGSHIP, FLAGSHIP.causes[0], 1, "seed") for _ in range(2))
    assert one == two


def test_settings_do_not_depend_on_the_cause():
    drawn = [draws.draw_instance(FLAGSHIP, bound, 3, "seed") for bound in BINDINGS]
    assert len({one.setting.model_dump_json() for one in drawn}) == 1
    assert len({one.id for one in drawn}) == len(BINDINGS)


def test_whole_numbers_stay_whole():
    drawn = {draws.draw_between((3, 4), random.Random(seed)) for seed in range(40)}
    assert drawn == {3.0, 4.0}


def instance_of(cause: str, seed: int = 1):
    return draws.draw_instance(FLAGSHIP, FLAGSHIP.cause(cause), seed, "seed")


def test_a_rank_is_also_named_by_its_host():
    drawn = instance_of("throttled-rank")
    rank = int(drawn.place.partition(":")[2])
    assert accepted_places(drawn) == [drawn.place, f"host:{drawn.setting.placement[rank]}"]


def test_a_moved_rank_is_named_by_the_host_where_it_runs_now():
    drawn = instance_of("worse-placement")
    rank, far_leaf = accepted_places(drawn)
    assert rank == drawn.place
    assert far_leaf in {"host:6", "host:7", "host:8"}


def test_an_access_link_is_also_named_by_its_host_and_an_uplink_is_not():
    drawn = instance_of("degraded-link")
    access = drawn.model_copy(update={"place": "link:host1-leaf0"})
    uplink = drawn.model_copy(update={"place": "link:leaf0-spine1"})
    rank = drawn.setting.placement.index(1)
    assert accepted_places(access) == ["link:host1-leaf0", "host:1", f"rank:{rank}"]
    assert accepted_places(uplink) == ["link:leaf0-spine1"]


def test_a_cure_runs_the_same_setting_without_the_fault():
    drawn = instance_of("degraded-link")
    with_fault, cured = spec_for(drawn, "job"), spec_for(drawn, "job", "cures")
    assert with_fault.faults and not cured.faults
    assert with_fault.setting == cured.setting


def test_harm_is_what_the_scenario_says():
    drawn = instance_of("comparison-changed")
    assert faults_after(drawn, "add-gpus")[0].params["samples"] < drawn.params["samples"]


def test_the_run_before_has_the_healthy_configuration():
    drawn = instance_of("no-overlap")
    before = baseline_spec(drawn)
    assert before.setting.job == drawn.setting.baseline_job
    assert before.setting.placement == drawn.setting.baseline_placement
    assert not before.faults


@pytest.mark.parametrize("key", sorted({key for one in library.every() for key in offered.experiments_of(one.table)}))
def test_experiment_keys_come_back_as_they_were_written(key):
    assert spec_for(instance_of("no-overlap"), key).key == key


@pytest.mark.parametrize("key", ["", "job[", "Job", "microbenchmark[size]"])
def test_what_is_no_experiment_is_refused(key):
    with pytest.raises(ValueError, match="is no experiment"):
        split_key(key)


@pytest.mark.parametrize("experiment", ["job", "microbenchmark[placement=as-job,size=job]"])
def test_a_scenario_may_be_set_on_nodes_instead_of_leaves(experiment):
    """Ranks 0 and 1 inside one node, 2 and 3 in the other, or in turn."""
    for in_turn in (False, True):
        setting = LabSetting(topology="two-tier", hosts_per_leaf=3, hosts=((0, 1), (3, 5)), in_turn=in_turn)
        scenario = FLAGSHIP.model_copy(update={"setting": setting})
        drawn = draws.draw_instance(scenario, scenario.cause("throttled-rank"), 0, "seed")
        plan = plan_run(spec_for(drawn, experiment))
        nodes = [plan.fabric.leaf_of[host] for host in plan.placement]
        assert nodes in ([[0, 1, 0, 1]] if in_turn else [[0, 0, 1, 1]])


def test_a_fix_that_changes_the_job_is_really_applied():
    drawn = draws.draw_instance(FLAGSHIP, FLAGSHIP.cause("degraded-link"), 0, "seed")
    applied, cured = (spec_for(drawn, "job", state) for state in ("compress-gradients", "cures+compress-gradients"))
    assert applied.faults and not cured.faults
    assert {applied.setting.job.communication_dtype, cured.setting.job.communication_dtype} == {"bfloat16"}
    assert spec_for(drawn, "job").setting.job.communication_dtype == "float32"


def test_a_fault_that_cannot_touch_an_experiment_is_left_out():
    shared = {
        bound.id: [key for key in offered.experiments_of(FLAGSHIP.table) if is_shared(drawn, key)]
        for bound in FLAGSHIP.causes
        if (drawn := draws.draw_instance(FLAGSHIP, bound, 0, "seed"))
    }
    assert not any("job" in keys for keys in shared.values())
    assert "microbenchmark[placement=packed,size=job]" in shared["degraded-link"]
    assert "resume-replay" in shared["small-buckets"] and "resume-replay" not in shared["slow-input-rank"]
    assert "storage-throughput[writers=all]" in shared["slow-input-rank"]
    assert shared["throttled-rank"] == []
