"""Prevention: measures by precision, alerts by back-test on histories that come in as data."""

from __future__ import annotations

import pytest

from grader.alerts import Stream, Trial
from grader.transcript import TranscriptError
from tests.grader.histories import AT_S, HEALTHY, histories, known
from tests.grader.played import PREVENT, SOUND, swapped, transcript
from tests.grader.scoring import grade


def mark(knowledge, *, trials=None, measures=(), **alert):
    said = {"kind": "prevent", "measures": list(measures), "alerts": [{"metric": "busbw", "threshold": 0.7, **alert}]}
    card = grade(transcript(swapped(PREVENT, said)), known(knowledge, *(histories() if trials is None else trials)))
    return card.criteria["prevention"], card


def test_an_alert_that_detects_every_run_soon_and_stays_quiet_earns_all(knowledge):
    found, card = mark(knowledge)
    assert found.score == 1
    assert "caught it 8 of 8 times, at the first faulty point, with no false alarm" in found.why
    assert (card.alerts[0].detected, card.alerts[0].tried, card.alerts[0].cause) == (8, 8, "degraded-link")


def test_an_alert_that_never_fires_earns_nothing(knowledge):
    found, _ = mark(knowledge, threshold=0.1)
    assert found.score == 0
    assert "missed it all 8 times" in found.why


def test_missed_runs_cost_in_proportion(knowledge):
    faint = tuple(
        Trial(t.id, t.fault, (Stream("all ranks", AT_S, (HEALTHY,) * 20, 10),)) if t.id in ("t0", "t1") else t
        for t in histories()
    )
    assert mark(knowledge, trials=faint)[0].score == pytest.approx(6 / 8)


def test_a_long_window_pays_in_delay(knowledge):
    scores = [mark(knowledge, window=window)[0].score for window in (1, 4, 8, 10)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == scores[1] == 1 > scores[2] > scores[3] > 0.5


def test_a_nervous_alert_pays_in_false_alarms(knowledge):
    quiet, noisy, noise = (mark(knowledge, trials=histories(noisy=number))[0] for number in (0, 2, 4))
    assert quiet.score > noisy.score > noise.score
    assert "false alarms in 1,000 healthy points" in noisy.why


def test_an_alarm_about_another_fault_is_not_false(knowledge):
    assert mark(knowledge)[1].alerts[0].false_alarms == 0


def test_an_alert_always_on_detects_nothing_and_is_noise(knowledge):
    found, card = mark(knowledge, threshold=2.0)
    assert found.score == 0
    assert card.alerts[0].detected == 0


def test_the_direction_is_where_the_metric_gets_worse_unless_said(knowledge):
    assert mark(knowledge)[1].alerts[0].direction == "below"
    assert mark(knowledge, direction="above")[0].score == 0


def test_measures_and_alerts_count_half_each(knowledge):
    right, wrong = ["link-metrics"], ["placement-check"]
    assert mark(knowledge, measures=right)[0].score == 1
    assert mark(knowledge, measures=wrong)[0].score == 0.5
    assert mark(knowledge, measures=right, threshold=0.1)[0].score == 0.5


def test_measures_alone_are_judged_as_before(knowledge):
    assert grade(transcript(SOUND), known(knowledge, *histories())).criteria["prevention"].score == 1


def test_several_alerts_are_one_alarm_system(knowledge):
    """A second, silent alert takes nothing from the first; a nervous one adds its false alarms."""

    def score(*thresholds, noisy=0):
        alerts = [{"metric": "busbw", "threshold": threshold} for threshold in thresholds]
        said = {"kind": "prevent", "measures": [], "alerts": alerts}
        card = grade(transcript(swapped(PREVENT, said)), known(knowledge, *histories(noisy=noisy)))
        return card.criteria["prevention"].score

    assert score(0.7) == score(0.7, 0.1) == 1
    assert score(0.7, 0.69, noisy=2) < score(0.7, noisy=2)


def test_a_metric_that_no_history_holds_earns_nothing_and_says_so(knowledge):
    found, card = mark(knowledge, trials=())
    assert found.score == 0
    assert "No recorded run could try your alert on bus bandwidth" in found.why
    assert card.alerts == ()


def test_where_no_metric_is_known_alerts_are_kept_and_not_judged(knowledge):
    said = {**PREVENT, "alerts": [{"metric": "busbw", "threshold": 0.7}]}
    assert knowledge.metrics == ()
    assert grade(transcript(swapped(PREVENT, said)), knowledge).criteria["prevention"].score == 1


def test_a_metric_that_is_not_recorded_is_refused_by_event_and_field(knowledge):
    said = {"kind": "prevent", "measures": [], "alerts": [{"metric": "busbv", "threshold": 0.7}]}
    with pytest.raises(TranscriptError, match=r'event 0 \(prevent\): field alerts: .*did you mean "busbw"'):
        grade(transcript([said]), known(knowledge, *histories()))


@pytest.mark.parametrize("wrong", [{"threshold": float("nan")}, {"window": 0}, {"share": 0}, {"colour": "red"}])
def test_an_alert_that_means_nothing_is_refused_by_field(wrong, knowledge):
    field = rf"event 0 \(prevent\): field alerts\.0\.{next(iter(wrong))}"
    with pytest.raises(TranscriptError, match=field):
        alert = {"metric": "busbw", "threshold": 0.7, **wrong}
        grade(transcript([{"kind": "prevent", "measures": [], "alerts": [alert]}]), known(knowledge))


def test_the_same_alert_said_twice_is_one(knowledge):
    assert len(mark(knowledge, window=2)[1].alerts) == 1
    said = {"kind": "prevent", "measures": [], "alerts": [{"metric": "busbw", "threshold": 0.7}] * 2}
    assert len(grade(transcript(swapped(PREVENT, said)), known(knowledge, *histories())).alerts) == 1


def test_what_was_said_last_counts(knowledge):
    """The page offers to change it: what was said before is taken back."""
    useless = {"kind": "prevent", "measures": ["restart-often"], "alerts": [{"metric": "busbw", "threshold": 0.1}]}
    once = grade(transcript(SOUND), known(knowledge, *histories()))
    for measures in knowledge.measures:
        if "degraded-link" not in measures.catches:
            useless["measures"] = [measures.id]
    changed = grade(transcript(swapped(PREVENT, useless, PREVENT)), known(knowledge, *histories()))
    assert changed.criteria["prevention"].score == once.criteria["prevention"].score == 1
    assert changed.alerts == ()
    assert grade(transcript(swapped(PREVENT, PREVENT, useless)), knowledge).criteria["prevention"].score < 1
