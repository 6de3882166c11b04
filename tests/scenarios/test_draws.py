"""Draws stay within their ranges and are alike whatever the cause."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_worker.faults import kind_of
from gpu_worker.probes.change_log import touched
from scenarios import bank, draws, library
from scenarios.instances import accepted_places, baseline_spec, faults_after, spec_for, split_key

FLAGSHIP = library.get("slow-all-reduce")
BINDINGS = [None, *FLAGSHIP.causes]


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda bound: bound.id if bound else "healthy")
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_draw_lies_within_its_ranges_and_the_lab_takes_it(binding, seed):
    drawn = draws.draw_instance("t", binding, random.Random(seed))
    low, high = draws.SLOW_RATES
    assert low <= drawn.setting.topology.far_uplink_rate <= high
    assert low <= drawn.setting.topology.management_rate <= high
    assert sorted(drawn.setting.placement) == [0, 1, 2, 3]
    assert {*drawn.setting.placement[:2]} == {0, 1}
    assert all(touched(drawn.setting).values())
    if binding is None:
        assert drawn.cause == "healthy" and drawn.place is None
        return
    assert drawn.place in binding.places if binding.places else drawn.place is None
    for name, ends in binding.params.items():
        assert min(ends) <= drawn.params[name] <= max(ends)
    for effect in ("nothing", "mitigates", "harms"):
        for fault in faults_after(drawn, effect):
            kind_of(fault).plan(drawn.setting, fault)


def test_the_same_seed_draws_the_same_instance():
    one, two = (draws.draw_instance("t", FLAGSHIP.causes[0], random.Random(7)) for _ in range(2))
    assert one == two


def test_settings_do_not_depend_on_the_cause():
    settings_drawn = {draws.draw_instance("t", bound, random.Random(3)).setting.model_dump_json() for bound in BINDINGS}
    assert len(settings_drawn) == 1


def test_whole_numbers_stay_whole():
    drawn = {draws.draw_between((3, 4), random.Random(seed)) for seed in range(40)}
    assert drawn == {3.0, 4.0}


def instance_of(cause: str, seed: int = 1):
    return draws.draw_instance("t", FLAGSHIP.cause(cause), random.Random(seed))


def test_a_rank_is_also_named_by_its_host():
    drawn = instance_of("throttled-rank")
    rank = int(drawn.place.partition(":")[2])
    assert accepted_places(drawn) == [drawn.place, f"host:{drawn.setting.placement[rank]}"]


def test_a_moved_rank_is_named_by_the_host_where_it_runs_now():
    drawn = instance_of("worse-placement")
    assert accepted_places(drawn) == [drawn.place, "host:4"]


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
    assert faults_after(drawn, "harms")[0].params["samples"] < drawn.params["samples"]


def test_the_run_before_has_the_healthy_configuration():
    drawn = instance_of("no-overlap")
    before = baseline_spec(drawn)
    assert before.setting.job == drawn.setting.baseline_job
    assert before.setting.placement == drawn.setting.baseline_placement
    assert not before.faults


@pytest.mark.parametrize("key", bank.EXPERIMENTS)
def test_experiment_keys_come_back_as_they_were_written(key):
    assert spec_for(instance_of("no-overlap"), key).key == key


@pytest.mark.parametrize("key", ["", "job[", "Job", "microbenchmark[size]"])
def test_what_is_no_experiment_is_refused(key):
    with pytest.raises(ValueError, match="is no experiment"):
        split_key(key)
