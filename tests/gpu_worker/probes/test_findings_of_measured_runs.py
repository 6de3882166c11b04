"""Really measured runs, a few of each cause: the stated thresholds separate what they should."""

import pytest

from gpu_worker.probes import PROBES
from gpu_worker.symptoms.slow_collective import SYMPTOM

QUIET = {
    "per-rank-step-times": {"even"},
    "collective-arrivals": {"together"},
    "host-telemetry": {"even"},
    "input-timings": {"even"},
    "overlap-trace": {"overlapped"},
    "link-error-counters": {"clean"},
    "library-choices": {"fabric-interface"},
    "placement-map": {"as-before"},
    "change-log": {"changes"},
    "path-map": {"apart"},
    "link-utilisation": {"job-alone"},
}
LOUD = {
    "healthy": {},
    "throttled-rank": {
        "per-rank-step-times": {"one-rank-slow-compute"},
        "collective-arrivals": {"one-rank-late"},
        "host-telemetry": {"one-host-stalled"},
    },
    "slow-input-rank": {
        "per-rank-step-times": {"one-rank-slow-input"},
        "collective-arrivals": {"one-rank-late"},
        "input-timings": {"one-rank-slow"},
    },
    "degraded-link": {},
    "worse-placement": {"placement-map": {"more-hops"}},
    "fallback-transport": {"library-choices": {"management-interface"}},
    "no-overlap": {"overlap-trace": {"serial"}},
    "comparison-changed": {},
}
FABRIC = {"degraded-link", "worse-placement", "fallback-transport"}
SYMPTOM_AT_FLOOR = {"healthy", "no-overlap", "comparison-changed"}


def test_every_cause_has_measured_runs_of_both_experiments(measured):
    held = {(cause, run.spec.experiment) for cause, run in measured}
    assert held == {(cause, experiment) for cause in LOUD for experiment in ("job", "microbenchmark")}


@pytest.mark.parametrize("cause", LOUD)
def test_a_measured_job_shows_its_cause_to_the_right_probes_alone(cause, measured):
    for run in (run for name, run in measured if name == cause and run.spec.experiment == "job"):
        found = {step: PROBES[step].finding(PROBES[step].read(run, {})) for step in QUIET}
        assert {step: {finding} for step, finding in found.items()} == QUIET | LOUD[cause]


@pytest.mark.parametrize("cause", LOUD)
def test_a_measured_microbenchmark_is_below_its_floor_under_fabric_causes_alone(cause, measured):
    probe = PROBES["microbenchmark"]
    expected = "below-floor" if cause in FABRIC else "at-floor"
    for run in (run for name, run in measured if name == cause and run.spec.experiment == "microbenchmark"):
        assert probe.finding(probe.read(run, {})) == expected


@pytest.mark.parametrize("cause", LOUD)
def test_only_a_degraded_link_reads_below_its_nominal_rate(cause, measured):
    probe = PROBES["link-rates"]
    for run in (run for name, run in measured if name == cause and run.spec.experiment == "job"):
        expected = "one-link-lower" if cause == "degraded-link" else "nominal"
        assert probe.finding(probe.read(run, {"scope": "all"})) == expected


@pytest.mark.parametrize("cause", LOUD)
def test_the_measured_symptom_splits_the_causes_in_two(cause, measured):
    baseline = next(run for name, run in measured if name == "healthy" and run.spec.experiment == "job")
    expected = "collective-at-floor" if cause in SYMPTOM_AT_FLOOR else "collective-below-floor"
    for run in (run for name, run in measured if name == cause and run.spec.experiment == "job"):
        result = SYMPTOM.read(run, baseline)
        assert SYMPTOM.finding(result) == expected
        if cause != "healthy":
            assert result.readings["mfu_now"].value < 0.85 * result.readings["mfu_before"].value
