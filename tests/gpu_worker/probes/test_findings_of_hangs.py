"""Really measured hangs, one of each cause: what the three probes find in them, and what they never say."""

from __future__ import annotations

import json

import pytest

from gpu_worker import export
from gpu_worker.probes import PROBES
from tests.gpu_worker.probes.made_hang import measured

STEPS = ("rank-logs", "collective-log", "stack-dump")
FINDINGS = {
    "healthy": ("quiet", "in-step", "moving"),
    "order-mismatch": ("time-outs", "ranks-differ", "ranks-apart"),
    "shape-mismatch": ("one-rank-died", "ranks-differ", "ranks-gone"),
    "dtype-mismatch": ("one-rank-died", "one-rank-missing", "ranks-gone"),
    "dead-rank": ("one-rank-died", "one-rank-missing", "ranks-gone"),
    "left-loop-early": ("time-outs", "one-rank-behind", "ranks-apart"),
    "one-collective-too-many": ("time-outs", "one-rank-ahead", "ranks-apart"),
    "conditional-branch": ("time-outs", "ranks-differ", "ranks-apart"),
    "partition": ("time-outs", "all-waiting", "all-in-one-place"),
    "save-slower-than-timeout": ("time-outs", "one-rank-behind", "one-works-others-wait"),
    "sender-left": ("peer-lost", "one-rank-missing", "ranks-gone"),
}


@pytest.fixture(scope="module")
def hangs():
    return measured()


def test_every_cause_has_a_measured_run(hangs):
    assert set(hangs) == set(FINDINGS)


@pytest.mark.parametrize("cause", FINDINGS)
def test_a_measured_hang_shows_its_signature(cause, hangs):
    found = [PROBES[step].finding(PROBES[step].read(hangs[cause], {})) for step in STEPS]
    assert tuple(found) == FINDINGS[cause]


@pytest.mark.parametrize("cause", FINDINGS)
@pytest.mark.parametrize("step", STEPS)
def test_a_reading_travels_and_draws_whatever_happened(step, cause, hangs):
    probe = PROBES[step]
    result = probe.read(hangs[cause], {})
    assert json.loads(export.as_json(result)) == export.as_dict(result)
    figure = probe.figure(result, {})
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
    for series in result.series.values():
        assert all(len(row) == len(series.columns) == len(series.units) for row in series.rows)


@pytest.mark.parametrize("cause", FINDINGS)
def test_a_stored_run_names_no_place_of_the_machine_that_took_it(cause, hangs):
    text = hangs[cause].model_dump_json()
    for place in ("site-packages", "/home/", "/root/", "/tmp/", "/usr/", "/work/", "__w"):
        assert place not in text


def test_the_first_failure_is_told_from_its_victims(hangs):
    readings = PROBES["rank-logs"].read(hangs["dead-rank"], {}).readings
    assert readings["first_failure"].value.startswith("rank 2")
    assert readings["peer_lost_ranks"].value == 3
    rows = PROBES["rank-logs"].read(hangs["dead-rank"], {}).series["failures"].rows
    assert [row[2] for row in rows] == ["first", "after it", "after it", "after it"]


def test_a_probe_of_hangs_refuses_a_run_of_another_experiment_by_name(made):
    for step in STEPS:
        with pytest.raises(ValueError, match="job"):
            PROBES[step].read(made["healthy"], {})
