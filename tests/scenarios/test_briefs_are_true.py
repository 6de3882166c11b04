"""What a brief says besides its numbers holds for every instance that an attempt may draw."""

from __future__ import annotations

from gpu_worker.probes import PROBES, _job
from scenarios import bank, library
from scenarios.format import Scenario
from scenarios.instances import CURES, Instance


def drawn(key: str) -> tuple[Scenario, list[Instance]]:
    scenario = library.named(key)
    found = [one for one in bank.complete_instances(scenario) if one.cause in scenario.prior]
    assert {one.cause for one in found} == set(scenario.prior)
    return scenario, found


def test_two_nodes_are_slower_than_one_was():
    scenario, found = drawn("two-nodes-slower-than-one")
    for one in found:
        now = bank.whole_run(scenario.table, one.id, "job")
        was = bank.whole_run(scenario.table, one.id, "single-node-baseline", CURES)
        on_one_host = PROBES["single-node-baseline"].read(was, {}).readings["packed_s"].value
        assert isinstance(on_one_host, float)
        samples_then = len(was.recorded["packed"]) * was.spec.setting.job.microbatch / on_one_host
        assert _job.samples_per_step(now) / _job.step_s(now) < 0.8 * samples_then, one


def test_the_move_to_two_nodes_cost_what_its_fact_says():
    scenario = library.named("two-nodes-slower-than-one")
    (fact,) = [one.answer for one in scenario.facts if one.id == "one-node"]
    healthy = [one for one in bank.heads(scenario.table) if one.instance.is_healthy]
    runs = [
        bank.whole_run(scenario.table, one.instance.id, "single-node-baseline")
        for one in healthy
        if ("nothing", "single-node-baseline") in one.held
    ]
    read = PROBES["single-node-baseline"].read
    ratios = [float(read(run, {}).readings["placed_over_packed"].value) for run in runs]
    assert len(ratios) == 10 and "ten healthy runs" in fact
    assert f"{min(ratios):.2f} to {max(ratios):.2f}" in fact
