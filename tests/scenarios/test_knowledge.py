"""The shipped bank and calibration hold together, and give the grader all it asks for."""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from grader.transcript import variant_id
from scenarios import bank, filling, observe, offered, reports, tables_file
from scenarios.instances import is_shared
from scenarios.knowledge import knowledge_for

LARGEST_BANK_BYTES = 24_000_000
LEAST_RUNS = 8


@pytest.fixture(scope="module")
def knowledge(scenario):
    return knowledge_for(scenario)


@pytest.fixture(scope="module")
def calibration(scenario):
    return tables_file.load(scenario.table)


def test_every_variant_of_every_step_has_a_cell_for_every_cause(scenario, knowledge):
    wanted = {variant_id(step, with_) for step in scenario.steps for with_ in variants(PROBES[step])}
    assert {variant_id(step.step, step.with_) for step in knowledge.steps} == wanted
    for step in (*knowledge.steps, knowledge.symptom):
        assert set(step.cells) == {*scenario.prior, "healthy"}
        for cell in step.cells.values():
            assert set(cell.p) == set(step.findings)
            assert sum(cell.p.values()) == pytest.approx(1)


def test_estimates_are_in_si_units_and_hold_the_floor(knowledge):
    values = {(one.quantity, one.scale): [a.value for a in one.accepted] for one in knowledge.estimates}
    assert values["collective-floor", "production"] == pytest.approx([5.6, 0.69])
    assert values["bytes-on-the-wire", "production"][0] == pytest.approx(280e9)
    assert values["collective-floor", "lab"] == pytest.approx([0.445])
    assert values["fraction-of-floor", "lab"] == []


def test_the_digest_is_that_of_the_tables(calibration):
    assert calibration.digest == tables_file.digest_of(calibration.tables)


def test_the_knowledge_is_made_once(scenario, knowledge):
    assert knowledge_for(scenario) is knowledge


def test_the_bank_ships_within_its_size_and_with_enough_runs(scenario, calibration):
    assert sum(filling.sizes(scenario.table)) <= LARGEST_BANK_BYTES
    assert all(calibration.runs[cause] >= LEAST_RUNS for cause in scenario.prior)


def test_observations_of_the_calibration_are_what_the_probes_read_today(scenario, calibration):
    """A probe or a threshold that changed without a new calibration would score by a table that no longer holds."""
    known = {(one.instance, one.variant): one for one in calibration.observations}
    for instance in bank.complete_instances(scenario)[:10]:
        runs = {key: bank.whole_run(instance.table, instance.id, key) for key in offered.experiments_for(scenario)}
        baseline = runs["job"] if instance.is_healthy else bank.baseline(instance.table, instance)
        for seen in observe.observations(instance, runs, lambda _, before=baseline: before):
            then = known.get((seen.instance, seen.variant))
            if then is None:  # the healthy twin's run, and observed as the twin's
                assert is_shared(instance, calibration.tables.variants[seen.variant].experiment)
                continue
            assert then.finding == seen.finding
            # A probe may have learnt a reading since; those that the tables rest on have to be the same.
            assert then.readings == pytest.approx({name: seen.readings[name] for name in then.readings})


def test_no_run_of_the_bank_comes_from_another_machine(calibration):
    assert calibration.machine_class["runs_of_another_class"] == 0


def test_every_cause_leaves_a_third_to_two_thirds_of_the_useful_work(scenario, calibration):
    for cause in scenario.prior:
        assert 0.40 <= calibration.reports["useful_work"][cause]["median"] <= 0.72, cause


def test_the_symptom_tells_at_most_one_bit(scenario, calibration):
    assert reports.symptom_bits(scenario, calibration) <= 1.0
