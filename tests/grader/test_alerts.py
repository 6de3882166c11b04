"""An alert played to recorded series: when it fires, how late, how often for nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.alerts import Alert, Stream, Trial, back_test, play, rises

SLOW = Alert(metric="step-time", threshold=1.5, direction="above", window=3, share=0.6)
values_of = st.lists(st.floats(0, 10), max_size=40)


def trial(*values: float, onset: int | None, of: str = "rank 0") -> Trial:
    at_s = tuple(2.0 * number for number in range(1, len(values) + 1))
    return Trial("t", "throttled-rank" if onset is not None else None, (Stream(of, at_s, values, onset),))


def test_a_fault_is_detected_once_enough_of_the_window_is_over_the_threshold():
    outcome = play(SLOW, trial(1, 1, 1, 2, 2, 2, onset=3))
    assert (outcome.delay_points, outcome.delay_s, outcome.false_alarms) == (2, 4.0, 0)


def test_one_bad_point_in_a_window_is_no_alarm():
    outcome = play(SLOW, trial(1, 9, 1, 1, 9, 1, 1, onset=None))
    assert outcome.false_alarms == 0 and not outcome.missed


def test_an_alarm_before_the_fault_is_false_and_does_not_detect_it():
    early = play(SLOW, trial(1, 2, 2, 2, 2, 2, onset=4))
    assert early.false_alarms == 1 and early.missed


def test_an_alarm_that_went_off_and_on_again_detects():
    outcome = play(SLOW, trial(2, 2, 2, 1, 1, 1, 2, 2, onset=6))
    assert outcome.false_alarms == 1 and outcome.delay_points == 2


def test_an_alert_is_off_until_its_window_is_full():
    assert rises(SLOW, [9.0, 9.0]) == []
    assert rises(SLOW, [9.0, 9.0, 9.0]) == [2]


def test_any_rank_may_raise_the_alarm_and_the_first_counts():
    streams = (
        Stream("rank 0", (1, 2, 3, 4), (1, 1, 1, 1), 2),
        Stream("rank 1", (1, 2, 3, 4), (1, 1, 9, 9), 2),
    )
    outcome = play(SLOW.model_copy(update={"window": 1}), Trial("t", "f", streams))
    assert outcome.detected_by == "rank 1" and outcome.delay_points == 1


def test_a_metric_that_was_not_recorded_is_neither_hit_nor_miss():
    told = back_test(SLOW, [Trial("t", "f", ())])
    assert len(told.not_recorded) == 1 and not told.missed and told.detected_share is None


def test_totals_are_counted_by_fault_and_over_healthy_points():
    told = back_test(
        SLOW, [trial(1, 1, 1, 9, 9, onset=3), trial(1, 1, 1, 1, 1, onset=3), trial(9, 9, 9, 9, onset=None)]
    )
    assert told.by_fault() == {"throttled-rank": (1, 2)}
    assert told.detected_share == 0.5 and told.delay_points == 2
    assert told.false_alarms == 1
    assert told.false_alarms_per_1000_points == pytest.approx(1000 / 10)


def test_every_total_of_a_back_test_is_what_was_counted():
    trials = [
        trial(1, 1, 1, 9, 9, onset=3),  # detected at the second faulty point
        Trial("u", "pinned-cores", trial(1, 9, 9, 1, 1, 9, 9, onset=4).streams),  # a false one first, then detected
        trial(1, 1, 1, 1, onset=2),  # missed
        Trial("w", "lost", ()),  # not recorded
        trial(9, 9, 9, 1, 1, 9, 9, onset=None),  # false twice
    ]
    told = back_test(SLOW, trials)
    assert [len(part) for part in (told.outcomes, told.faulty, told.detected, told.missed, told.not_recorded)] == [
        5, 3, 2, 1, 1,
    ]  # fmt: skip
    assert told.by_fault() == {"pinned-cores": (1, 1), "throttled-rank": (1, 2)}
    assert told.detected_share == pytest.approx(2 / 3)
    assert told.false_alarms == 3
    assert told.false_alarms_per_1000_points == pytest.approx(1000 * 3 / (3 + 4 + 2 + 7))
    assert (told.delay_points, told.delay_s) == (2.5, 5.0)


def test_nothing_recorded_gives_no_figure():
    told = back_test(SLOW, [Trial("t", "f", ())])
    assert told.false_alarms_per_1000_points is None
    assert told.delay_points is None and told.delay_s is None
    assert told.by_fault() == {}
    assert told.outcomes[0].healthy_points == 0 and not told.outcomes[0].recorded


def test_the_delay_counts_from_the_last_healthy_point_or_from_the_begin():
    at_once = SLOW.model_copy(update={"window": 1})
    stream = Stream("rank 3", (1.0, 4.0, 9.0, 16.0), (1, 1, 9, 9), 2)
    assert play(at_once, Trial("t", "f", (stream,))).delay_s == 9.0 - 4.0
    from_the_begin = Stream("rank 3", (1.0, 4.0), (9, 9), 0)
    outcome = play(at_once, Trial("t", "f", (from_the_begin,)))
    assert (outcome.trial, outcome.fault, outcome.recorded) == ("t", "f", True)
    assert (outcome.delay_s, outcome.delay_points, outcome.healthy_points) == (1.0, 1, 0)
    assert (outcome.detected_by, outcome.false_alarms) == ("rank 3", 0)


def test_the_first_by_the_clock_counts_and_not_by_the_index():
    at_once = SLOW.model_copy(update={"window": 1})
    slow, quick = Stream("slow", (10.0, 20.0), (1, 9), 1), Stream("quick", (1.0, 2.0, 3.0), (1, 1, 9), 1)
    outcome = play(at_once, Trial("t", "f", (slow, quick)))
    assert (outcome.detected_by, outcome.delay_points, outcome.delay_s) == ("quick", 2, 2.0)
    assert outcome.healthy_points == 1


def test_healthy_points_are_those_of_the_longest_stream():
    streams = (Stream("a", (1, 2), (1, 1), None), Stream("b", (1, 2, 3), (1, 1, 1), None))
    assert play(SLOW, Trial("t", None, streams)).healthy_points == 3


@pytest.mark.parametrize(
    ("window", "share", "needed"), [(5, 0.6, 3), (3, 0.6, 2), (1, 1e-9, 1), (4, 1.0, 4), (10, 0.31, 4), (1000, 1e-6, 1)]
)
def test_a_share_of_the_window_is_rounded_up(window, share, needed):
    assert Alert(metric="m", threshold=1, direction="above", window=window, share=share).needed == needed


def test_what_equals_the_threshold_is_not_beyond_it():
    for direction in ("above", "below"):
        assert not Alert(metric="m", threshold=1.5, direction=direction).is_beyond(1.5)
    assert Alert(metric="m", threshold=1.5, direction="below").is_beyond(1.4)
    assert Alert(metric="m", threshold=1.5, direction="above").is_beyond(1.6)


def test_an_alert_that_stays_on_rises_once_and_forgets_what_left_its_window():
    assert rises(SLOW, [1, 2, 2, 2, 1, 1, 1, 2, 2]) == [2, 8]


@pytest.mark.parametrize("wrong", [{"window": 0}, {"share": 0}, {"share": 1.5}, {"threshold": float("nan")}])
def test_an_alert_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValidationError):
        Alert(**{"metric": "m", "threshold": 1, "direction": "above", **wrong})


@given(values_of, st.integers(1, 6), st.floats(0.1, 1.0))
def test_a_higher_threshold_never_turns_an_alert_on_more_points(values, window, share):
    def points_on(threshold: float) -> int:
        alert = Alert(metric="m", threshold=threshold, direction="above", window=window, share=share)
        beyond = [alert.is_beyond(value) for value in values]
        return sum(sum(beyond[end - window : end]) >= alert.needed for end in range(window, len(values) + 1))

    assert points_on(6.0) <= points_on(3.0)


@given(values_of, st.integers(1, 6))
def test_below_is_above_of_the_mirrored_series(values, window):
    below = Alert(metric="m", threshold=4, direction="below", window=window)
    above = Alert(metric="m", threshold=-4, direction="above", window=window)
    assert rises(below, values) == rises(above, [-value for value in values])
