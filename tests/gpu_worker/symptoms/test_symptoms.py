"""What a brief may be about: each kind on really measured runs, healthy and faulted."""

from __future__ import annotations

from typing import get_args

import pytest

from gpu_worker.symptoms import SYMPTOMS
from gpu_worker.symptoms.base import SymptomKind
from scenarios.parts import SymptomName
from tests.gpu_worker.probes.conftest import CHECKPOINTS, load

KINDS = pytest.mark.parametrize("kind", SYMPTOMS.values(), ids=lambda kind: kind.id)
HEALTHY = {
    "resume": "on-the-curve",
    "resume-on-fewer-ranks": "on-the-curve",
    "samples": "as-due",
    "saving": "as-before",
    "crash": "ran-on",
}


def taken(cause: str, experiment: str):
    return load(CHECKPOINTS / f"{cause}--{experiment}.json.gz")


def finding(kind: SymptomKind, cause: str) -> str:
    healthy = taken("healthy", kind.experiment)
    return kind.finding(kind.read(taken(cause, kind.experiment), healthy))


def left(id: str, cause: str) -> float:
    kind = SYMPTOMS[id]
    share = kind.left_of(taken(cause, kind.experiment), taken("healthy", kind.experiment))
    assert share is not None
    return share


def test_a_scenario_may_name_every_kind_and_no_other():
    assert set(get_args(SymptomName)) == set(SYMPTOMS)


@KINDS
def test_a_finding_is_one_of_those_that_are_told_and_a_placeholder_is_a_reading(kind):
    if kind.experiment == "job":
        return  # read on made runs, among the probes
    result = kind.read(taken("healthy", kind.experiment), taken("healthy", kind.experiment))
    assert kind.finding(result) == HEALTHY[kind.id] and HEALTHY[kind.id] in kind.findings
    assert {reading for reading, _ in kind.shown.values()} <= result.readings.keys()
    assert kind.left is None or 0 <= result.readings[kind.left].value <= 1


@KINDS
def test_a_line_has_its_numbers_before_and_now(kind):
    shown = {reading for reading, _ in kind.shown.values()}
    assert all({f"{name}_before", f"{name}_now"} <= shown for _, name, _ in kind.lines)


def test_a_placeholder_means_the_same_in_every_kind():
    said = [(name, what) for kind in SYMPTOMS.values() for name, what in kind.shown.items()]
    assert len({name for name, _ in said}) == len(set(said))


@pytest.mark.parametrize("cause", ["raw-optimizer-state", "loader-state-shared-key", "mixed-generations"])
def test_a_lost_part_of_the_state_leaves_the_curve(cause):
    assert finding(SYMPTOMS["resume"], cause) == "off-the-curve"
    assert left("resume", cause) <= 0.5


def test_a_restart_that_is_refused_lies_off_the_curve_and_prints_no_loss():
    kind = SYMPTOMS["resume"]
    result = kind.read(taken("empty-shard", "resume-replay"), taken("healthy", "resume-replay"))
    assert kind.finding(result) == "off-the-curve"
    assert "loss_now" not in result.readings


def test_losses_on_fewer_ranks_are_held_to_a_tolerance_and_not_to_the_last_bit():
    assert left("resume-on-fewer-ranks", "healthy") == left("resume", "healthy") == 1


def test_ranks_that_share_their_place_read_samples_that_are_not_due():
    assert finding(SYMPTOMS["samples"], "loader-state-shared-key") == "most-not-due"
    assert left("samples", "healthy") == 1


def test_a_save_by_one_rank_takes_steps_from_the_job():
    assert finding(SYMPTOMS["saving"], "gather-to-rank-0") == "stalls"
    assert 0.35 <= left("saving", "gather-to-rank-0") <= 0.87


def test_a_job_that_dies_of_its_save_has_no_step_behind_it():
    assert finding(SYMPTOMS["crash"], "every-rank-renames") == "ended-with-the-save"
    assert finding(SYMPTOMS["crash"], "configuration-not-saved") == "ran-on"
