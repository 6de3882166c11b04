"""Alerts back-tested on the bank's real runs: healthy histories that turn faulty."""

from __future__ import annotations

import pytest

from gpu_worker.alerts import alert_on, joined_trial
from gpu_worker.errors import BadSpec
from scenarios.alert_trials import back_test_on_bank, trials
from scenarios.causes import HEALTHY

TABLE = "leaf-spine-ddp"


def test_a_history_is_a_healthy_run_and_then_a_faulted_one():
    for trial in trials(TABLE, "step-time"):
        assert trial.streams
        for stream in trial.streams:
            assert list(stream.at_s) == sorted(stream.at_s)
            assert (stream.onset is None) == (trial.fault is None)
            assert stream.onset is None or 0 < stream.onset < len(stream.values)


def test_an_alert_on_busy_scores_finds_the_stragglers_and_leaves_the_fabric_alone():
    told = back_test_on_bank(alert_on("busy-score", 0.7, window=3), TABLE)
    detected = told.by_fault()
    for straggler in ("throttled-rank", "slow-input-rank"):
        found, tried = detected[straggler]
        assert found >= 0.9 * tried
    assert detected["degraded-link"][0] <= 0.2 * detected["degraded-link"][1]
    assert told.delay_points is not None and 1 <= told.delay_points <= 5


def test_an_alert_on_the_floor_finds_the_slow_fabric():
    told = back_test_on_bank(alert_on("busbw-over-floor", 0.6, window=3), TABLE)
    found, tried = told.by_fault()["degraded-link"]
    assert found >= 0.9 * tried


def test_a_nervous_alert_pays_in_false_alarms_and_a_deaf_one_in_misses():
    calm, nervous, deaf = (
        back_test_on_bank(alert_on("busy-score", threshold, window=window), TABLE)
        for threshold, window in ((0.7, 3), (0.99, 1), (0.01, 3))
    )
    assert calm.false_alarms < nervous.false_alarms
    assert len(deaf.missed) == len(deaf.faulty)
    assert deaf.false_alarms == 0


def test_healthy_runs_without_a_fault_are_tried_too():
    (healthy,) = [trial for trial in trials(TABLE, "step-time") if trial.id == HEALTHY]
    assert healthy.fault is None and len(healthy.streams[0].values) > 40


def test_a_metric_that_no_run_holds_is_reported_as_not_recorded():
    assert not joined_trial("t", "busy-score", [], None, HEALTHY).streams


def test_a_metric_that_does_not_exist_is_refused_by_name():
    with pytest.raises(BadSpec, match=r"no metric 'mood'; the lab records .*step-time"):
        alert_on("mood", 1.0)
