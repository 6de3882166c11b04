"""Each cause is told by the probe that should tell it, on runs made by hand, and by no other."""

import pytest

from gpu_worker.probes import PROBES, change_log
from gpu_worker.specs import Job, Setting
from gpu_worker.symptoms.slow_collective import SHOWN, SYMPTOM

QUIET = {
    "per-rank-step-times": "even",
    "collective-arrivals": "together",
    "host-telemetry": "even",
    "input-timings": "even",
    "overlap-trace": "overlapped",
    "link-error-counters": "clean",
    "library-choices": "fabric-interface",
    "placement-map": "as-before",
    "change-log": "changes",
    "path-map": "apart",
    "link-utilisation": "job-alone",
}
LOUD = {
    "healthy": {},
    "throttled-rank": {
        "per-rank-step-times": "one-rank-slow-compute",
        "collective-arrivals": "one-rank-late",
        "host-telemetry": "one-host-stalled",
    },
    "slow-input-rank": {
        "per-rank-step-times": "one-rank-slow-input",
        "collective-arrivals": "one-rank-late",
        "input-timings": "one-rank-slow",
    },
    "degraded-link": {},
    "worse-placement": {"placement-map": "more-hops"},
    "fallback-transport": {"library-choices": "management-interface"},
    "no-overlap": {"overlap-trace": "serial"},
    "comparison-changed": {},
}


@pytest.mark.parametrize("cause", LOUD)
def test_only_the_probes_that_should_show_a_cause_show_it(cause, made):
    found = {step: PROBES[step].finding(PROBES[step].read(made[cause], {})) for step in QUIET}
    assert found == QUIET | LOUD[cause]


@pytest.mark.parametrize(
    ("cause", "scope", "finding"),
    [
        ("degraded-link", "suspects", "nominal"),  # the link is an uplink: no suspect's own
        ("degraded-link", "all", "one-link-lower"),
        ("healthy", "all", "nominal"),  # the far leaf and the management links are slow as bought
        ("worse-placement", "all", "nominal"),
    ],
)
def test_a_lower_rate_shows_only_where_one_looks(cause, scope, finding, made):
    probe = PROBES["link-rates"]
    assert probe.finding(probe.read(made[cause], {"scope": scope})) == finding


def test_the_late_rank_waits_least_and_totals_hide_it(made):
    readings = PROBES["per-rank-step-times"].read(made["throttled-rank"], {}).readings
    assert readings["least_exposed_rank"].value == readings["worst_compute_rank"].value == "rank 2"
    assert readings["totals_ratio"].value < 1.05


def test_a_swap_inside_a_leaf_moves_ranks_and_no_hops(made):
    readings = PROBES["placement-map"].read(made["healthy"], {}).readings
    assert readings["ranks_moved"].value == 2
    assert readings["extra_hops"].value == 0


@pytest.mark.parametrize(("fraction", "finding"), [(0.95, "at-floor"), (0.8, "inconclusive"), (0.3, "below-floor")])
def test_the_microbenchmark_is_held_against_the_wire_floor(fraction, finding, made_microbenchmark_run):
    probe = PROBES["microbenchmark"]
    result = probe.read(made_microbenchmark_run(fraction), {"size": "job", "placement": "as-job"})
    assert probe.finding(result) == finding
    values = {name: reading.value for name, reading in result.readings.items()}
    assert values["floor_s"] == pytest.approx(0.42)
    assert values["fraction_of_floor"] == pytest.approx(0.42 / values["seconds"])
    assert values["busbw"] == pytest.approx(values["algbw"] * 1.5)


def test_only_the_job_s_size_where_the_job_runs_bisects():
    probe = PROBES["microbenchmark"]
    assert probe.roles({"size": "job", "placement": "as-job"}) == ("bisect",)
    assert probe.roles({"size": "small", "placement": "as-job"}) == ()


def test_a_full_queue_is_no_error_and_steady_loss_is(made):
    probe = PROBES["link-error-counters"]
    run = made["healthy"]
    assert probe.finding(probe.read(run, {})) == "clean"
    run.fabric["counters"]["leaf0->host1"]["drops"] = 1500
    result = probe.read(run, {})
    assert probe.finding(result) == "errors"
    assert result.readings["worst_drop_link"].value == "leaf0 → host1"


def test_the_change_log_reads_the_same_under_every_cause(made):
    probe = PROBES["change-log"]
    results = [probe.read(run, {}) for run in made.values()]
    assert all(result == results[0] for result in results)
    assert results[0].readings["kinds_touched"].value == len(change_log.KINDS)


def test_the_change_log_does_not_invent_a_change(made):
    untouched = Setting()
    assert not any(change_log.touched(untouched).values())
    run = made["healthy"]
    run = run.model_copy(
        update={"spec": run.spec.model_copy(update={"setting": Setting(baseline_placement=(0, 1, 2, 3), job=Job())})}
    )
    assert PROBES["change-log"].read(run, {}).readings["kinds_touched"].value == 0


def test_the_symptom_shows_mfu_and_times_but_not_the_floor(made):
    result = SYMPTOM.read(made["comparison-changed"], made["healthy"])
    values = {name: result.readings[name].value for name in SHOWN}
    assert values["mfu_now"] == pytest.approx(0.40 * 3 / 8)
    assert values["step_s_now"] / values["step_s_before"] == pytest.approx(8 / 3)
    assert values["collective_s_now"] == pytest.approx(values["collective_s_before"])
    assert not any("floor" in name for name in SHOWN)


@pytest.mark.parametrize(
    ("cause", "finding"),
    [
        ("degraded-link", "collective-below-floor"),
        ("slow-input-rank", "collective-below-floor"),
        ("no-overlap", "collective-at-floor"),
        ("comparison-changed", "collective-at-floor"),
    ],
)
def test_the_symptom_tells_a_slow_collective_from_one_at_its_floor(cause, finding, made):
    assert SYMPTOM.finding(SYMPTOM.read(made[cause], made["healthy"])) == finding


def test_the_loss_of_each_step_is_told_with_digits_enough_to_compare(made):
    losses = PROBES["per-rank-step-times"].read(made["healthy"], {}).series["loss"]
    assert [row[0] for row in losses.rows] == list(range(1, len(made["healthy"].ranks[0]["steps"]) + 1))
    assert all(len(row[1].partition(".")[2]) == 6 for row in losses.rows)
