"""`scenario prove`: every shipped incident can be solved as it is meant to be, and one that cannot is told why."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json

import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from grader.index import index_of
from scenarios import library
from scenarios.knowledge import assemble, is_calibrated
from scenarios.proof import apart, golden, page, prove, search, work
from scenarios.proof.base import Subject, subject_of

SHIPPED = library.shipped()


@pytest.fixture(scope="module")
def subject() -> Subject:
    return subject_of(library.get("slow-all-reduce"))


def changed(subject: Subject, **fields: object) -> Subject:
    """The same calibration under a scenario with other fields."""
    scenario = subject.scenario.model_copy(update=fields)
    knowledge = assemble(scenario, subject.calibration)
    return Subject(scenario, subject.calibration, knowledge, index_of(knowledge))


def with_cells(subject: Subject, variant: str, **p_by_cause: dict[str, float]) -> Subject:
    """The same subject with other tables for some causes of a variant."""
    tables = subject.calibration.tables
    table = tables.variants[variant]
    cells = {cause.replace("_", "-"): p for cause, p in p_by_cause.items()}
    new = {
        cause: cell.model_copy(update={"p": cells[cause]}) if cause in cells else cell
        for cause, cell in table.cells.items()
    }
    variants = {**tables.variants, variant: table.model_copy(update={"cells": new})}
    calibration = subject.calibration.model_copy(update={"tables": tables.model_copy(update={"variants": variants})})
    knowledge = assemble(subject.scenario, calibration)
    return Subject(subject.scenario, calibration, knowledge, index_of(knowledge))


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("scenario", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.mark.parametrize("scenario", SHIPPED, ids=lambda one: one.key)
def test_every_shipped_incident_is_proved(scenario):
    assert [line for line in prove(scenario).lines if line.verdict not in ("holds", "no question")] == []


def test_the_page_of_proofs_is_what_the_command_writes():
    """Stale: python manage.py scenario prove --write-docs"""
    assert (settings.BASE_DIR / "docs" / "proofs.md").read_text() == page.page([prove(one) for one in SHIPPED])


def test_the_command_prints_a_line_a_claim_and_json():
    proof = json.loads(said("prove", "slow-all-reduce", "--json"))
    assert proof["holds"] and proof["key"] == "slow-all-reduce"
    text = said("prove", "slow-all-reduce")
    assert all(line["claim"] in text and line["figure"] in text for line in proof["lines"])


def test_without_a_key_the_command_is_misused():
    with pytest.raises(CommandError, match="name the scenario") as caught:
        said("prove")
    assert caught.value.returncode == 2


def test_what_is_not_calibrated_is_not_proved():
    for one in library.every():
        if not is_calibrated(one):
            with pytest.raises(CommandError, match="scenario calibrate KEY") as caught:
                said("prove", f"{one.key}@{one.revision}")
            assert caught.value.returncode == 1


def test_causes_that_no_offered_step_tells_apart_are_named_with_their_error(subject):
    few = changed(subject, steps=("per-rank-step-times", "change-log"))
    line = apart.told_apart(few)
    assert line.verdict == "fails"
    assert any(detail.startswith("degraded-link and fallback-transport, ") for detail in line.details)
    assert not any("throttled-rank and slow-input-rank" in detail for detail in line.details)


def test_causes_are_not_told_apart_by_steps_that_the_budget_does_not_pay_for(subject):
    poor = changed(subject, time_budget_min=5.0)
    assert apart.told_apart(poor).verdict == "fails"
    assert search.ends_in_time(poor).verdict == "fails"


def test_the_error_is_that_of_the_steps_named_counted_outcome_by_outcome(subject):
    index, names = subject.index, [*subject.index.variants, "the symptom"]
    for pair in apart.every_pair(subject):
        rows = [names.index(step) for step in pair.steps]
        assert sum(index.minutes[row] for row in rows) <= subject.scenario.time_budget_min
        measured = [index.experiment[row] for row in rows if not index.configuration[row]]
        assert len(measured) == len(set(measured))
        columns = [index.causes.index(cause) for cause in (pair.first, pair.second)]
        outcomes = itertools.product(*(range(len(index.steps[row].findings)) for row in rows))
        error = sum(
            min(np.prod([index.p[row, column, at] for row, at in zip(rows, shown, strict=True)]) for column in columns)
            for shown in outcomes
        )
        assert pair.error == pytest.approx(error / 2)


def test_a_change_log_that_names_the_cause_is_refused(subject):
    sure = {"changes": 0.01, "inconclusive": 0.99}
    telling = with_cells(subject, "change-log", no_overlap=sure, worse_placement=sure, fallback_transport=sure)
    assert search.change_log_suggests(telling).verdict == "fails"
    assert search.change_log_suggests(subject).verdict == "holds"


def test_a_search_that_begins_with_links_is_refused(subject):
    blind = changed(subject, steps=("link-rates", "placement-map", "library-choices", "microbenchmark"))
    line = search.splits_first(blind)
    assert line.verdict == "fails" and "after collective-below-floor: " in line.figure


def test_a_late_rank_is_one_rank_and_not_what_all_ranks_share(subject):
    causes, late = subject.index.causes, subject.index.late_ranks
    found = {cause for cause, is_late in zip(causes, late, strict=True) if is_late}
    assert found == {"throttled-rank", "stuttering-rank", "slow-input-rank", "skewed-shard"}


def test_nothing_is_split_where_the_symptom_left_no_network(subject):
    asked = {finding for finding, belief in search.questions(subject) if search.late_rank_or_fabric_is_open(belief)}
    assert "collective-below-floor" in asked and "collective-at-floor" not in asked


def test_a_compute_cause_that_slows_the_microbenchmark_is_refused(subject):
    slowed = [
        one.model_copy(update={"readings": {"fraction_of_floor": 0.7}})
        if (one.variant, one.cause) == (work.MICROBENCHMARK, "throttled-rank")
        else one
        for one in subject.calibration.observations
    ]
    calibration = subject.calibration.model_copy(update={"observations": slowed})
    line = work.compute_spares_the_fabric(dataclasses.replace(subject, calibration=calibration))
    assert (line.verdict, line.details) == ("fails", ("throttled-rank: 0.70",))


def test_a_cause_outside_the_headline_is_named(subject):
    mild = {**subject.calibration.reports["useful_work"]["no-overlap"], "median": 0.9}
    reports = {"useful_work": {**subject.calibration.reports["useful_work"], "no-overlap": mild}}
    line = work.headline(
        dataclasses.replace(subject, calibration=subject.calibration.model_copy(update={"reports": reports}))
    )
    assert (line.verdict, line.details) == ("fails", ("no-overlap: 0.90",))
    empty = subject.calibration.model_copy(update={"reports": {}})
    assert work.headline(dataclasses.replace(subject, calibration=empty)).verdict == "unknown"


def test_what_a_scenario_does_not_ask_for_is_no_question(subject):
    resumed = changed(subject, track="napkin-math", headline=None, steps=("per-rank-step-times",))
    lines = (search.splits_first, search.bisects, work.headline, search.change_log_suggests)
    assert {claim(resumed).verdict for claim in (*lines, work.compute_spares_the_fabric)} == {"no question"}


def test_a_golden_path_that_cannot_name_its_cause_does_not_pass(subject):
    few = changed(subject, steps=("per-rank-step-times", "microbenchmark", "change-log"))
    line = golden.paths_pass(few)
    assert line.verdict == "fails" and any("named skewed-shard" in detail for detail in line.details)


def test_golden_paths_are_walked_on_different_instances_with_what_their_probes_read(subject):
    stored = golden.stored_instances(subject)
    assert set(stored) == set(subject.scenario.prior)
    assert all(len(found) >= golden.INSTANCES for found in stored.values())
    kept = {one.instance: {} for one in subject.calibration.observations}
    for one in subject.calibration.observations:
        kept[one.instance][one.variant] = one.finding
    each = [findings for found in stored.values() for findings in found]
    assert all(any(own.items() <= findings.items() for own in kept.values()) for findings in each)


def test_who_is_named_first_changes_nothing_and_a_cause_is_never_told_from_itself(subject):
    for first, second in itertools.combinations(range(len(subject.index.causes)), 2):
        one, other = (apart.tell(subject.index, *pair, 90.0) for pair in ((first, second), (second, first)))
        assert (one.steps, one.error) == (other.steps, pytest.approx(other.error))
    assert apart.tell(subject.index, 0, 0, 90.0).error == pytest.approx(0.5)
