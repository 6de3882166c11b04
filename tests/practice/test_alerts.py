"""Alerts: written beside the measures, tried on healthy runs before the close, on the recorded incidents after it."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from grader.transcript import Prevent, parse_transcript
from practice import alerts
from practice.errors import Slip
from practice.transcripts import transcript_of
from practice.workbench import alerting
from practice.workbench.typed import Typed
from scenarios import alert_trials
from tests.practice.conftest import Candidate, bodies, token

TABLE = "leaf-spine-in-turn"
LATE = {"alert-metric": "busbw-over-floor", "alert-threshold": "80 %", "alert-window": "3", "alert-hits": "2"}


@pytest.fixture(params=[True, False], ids=["htmx", "plain"])
def candidate(request) -> Candidate:
    return Candidate(htmx=request.param)


def tried(candidate: Candidate, attempt, **fields):
    data = {"token": token(), "try": "1", **fields}
    return candidate.client.post(reverse("practice:try_alert", args=[attempt.pk]), data, headers=candidate.headers)


def test_an_alert_is_noted_beside_the_measures_changed_and_dropped(candidate):
    attempt = candidate.start()
    candidate.do(attempt, "prevent", measures=["link-metrics"], **LATE)
    assert bodies(attempt, "prevent")[-1] == {
        "measures": ["link-metrics"],
        "alerts": [{"metric": "busbw-over-floor", "threshold": 0.8, "window": 3, "share": 2 / 3}],
    }
    page = candidate.page(attempt, "conclusion")
    assert "in 2 of the last 3 points" in page
    key = re.search(r'name="alert" value="([^"]+)"', page)[1]
    candidate.do(attempt, "prevent", alert=[key], **{**LATE, "alert-metric": "step-time", "alert-threshold": "2 s"})
    assert [one["metric"] for one in bodies(attempt, "prevent")[-1]["alerts"]] == ["busbw-over-floor", "step-time"]
    candidate.do(attempt, "prevent", measures=["link-metrics"])
    assert bodies(attempt, "prevent")[-1] == {"measures": ["link-metrics"]}


def test_a_transcript_with_alerts_is_one_and_the_debrief_says_what_they_catch(candidate):
    attempt = candidate.start()
    candidate.do(attempt, "prevent", measures=["link-metrics"], **LATE)
    candidate.do(attempt, "close")
    attempt.refresh_from_db()
    assert parse_transcript(transcript_of(attempt)).events[-2].alerts[0].threshold == 0.8
    page = candidate.page(attempt, "scorecard")
    assert "recorded incidents of this cause" in page and "the fault begins" in page
    assert "alert: Wire floor over time in the collective below 0.800 in 2 of the last 3 points" in page


def test_one_more_may_be_tried_after_the_close_and_changes_no_score(candidate):
    attempt = candidate.start()
    candidate.do(attempt, "close")
    attempt.refresh_from_db()
    before = attempt.scorecard.body
    address = reverse("practice:scorecard", args=[attempt.pk])
    page = candidate.client.get(address, LATE).content.decode()
    assert re.search(r"It (catches \d+ of|misses all) \d+ recorded incidents|recorded incidents of this cause", page)
    assert 'class="tried"' in page
    wrong = candidate.client.get(address, {**LATE, "alert-threshold": "soon"}).content.decode()
    assert 'id="alert-threshold-error"' in wrong and 'class="tried"' not in wrong
    attempt.refresh_from_db()
    assert attempt.scorecard.body == before


def test_trying_tells_how_quiet_it_is_and_notes_nothing(candidate):
    attempt = candidate.start()
    answer = tried(candidate, attempt, **LATE, measures="link-metrics")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert re.search(r"On \d+ points of recorded healthy runs it (stays quiet|rings)", page)
    assert re.search(r'value="link-metrics" checked', page), "what was ticked stays ticked"
    assert 'value="80 %"' in page
    assert not attempt.events.filter(kind="prevent").exists()


@pytest.mark.parametrize(
    "field, typed, says",
    [
        ("alert-threshold", "", "Write a threshold first"),
        ("alert-threshold", "fast", "alert-threshold-error"),
        ("alert-threshold", "3 kg", "alert-threshold-error"),
        ("alert-metric", "bussbw-over-floor", "busbw-over-floor"),
        ("alert-window", "0", "A whole number from 1 to 50"),
        ("alert-window", "1e3", "A whole number from 1 to 50"),
        ("alert-hits", "9", "A whole number from 1 to 3"),
        ("alert", "nonsense", alerts.UNREADABLE),
        ("alert", "step-time:nan:1:1", alerts.UNREADABLE),
        ("alert", "step-time:1.0:2:3", alerts.UNREADABLE),
        ("alert", "no-such:1.0:2:2", alerts.UNREADABLE),
        ("alert", "exposed-share:1e308:1:1", alerts.UNREADABLE),
        ("alert", "step-time:-1:1:1", alerts.UNREADABLE),
        ("alert", f"step-time:1:1:{'9' * 400}", alerts.UNREADABLE),
    ],
)
def test_what_cannot_be_read_is_refused_beside_its_field(candidate, field, typed, says):
    attempt = candidate.start()
    answer = tried(candidate, attempt, **{**LATE, field: typed})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    if typed:
        noted = candidate.do(attempt, "prevent", **{**LATE, field: typed})
        assert noted.status_code == 422 and says in noted.content.decode()
        assert not attempt.events.filter(kind="prevent").exists()


def test_a_wrong_window_makes_no_second_error_of_the_points(candidate):
    attempt = candidate.start()
    page = tried(candidate, attempt, **{**LATE, "alert-window": "60"}).content.decode()
    assert "from 1 to 50" in page and "from 1 to 1." not in page


def test_more_than_nothing_can_be_watched_for_and_blanks_mean_what_the_page_shows(candidate):
    attempt = candidate.start()
    none = {"alert-metric": "link-drops", "alert-threshold": "0", "alert-window": "", "alert-hits": ""}
    page = tried(candidate, attempt, **none).content.decode()
    assert "Packets dropped by a direction of a link above 0 at 2 points in a row" in page
    assert 'name="alert-window" inputmode="numeric" value="2"' in page
    candidate.do(attempt, "prevent", **none)
    assert bodies(attempt, "prevent")[-1]["alerts"] == [
        {"metric": "link-drops", "threshold": 0.0, "window": 2, "share": 1.0}
    ]


def test_a_metric_that_the_table_does_not_record_is_refused_and_where_none_is_there_is_nothing_to_try(
    candidate, monkeypatch
):
    attempt = candidate.start()
    monkeypatch.setattr(alert_trials, "recorded", lambda table: ("step-time",))
    refused = candidate.do(attempt, "prevent", alert=["busbw-over-floor:0.8:1:1"])
    assert refused.status_code == 422 and alerts.UNREADABLE in refused.content.decode()
    monkeypatch.setattr(alert_trials, "recorded", lambda table: ())
    assert tried(candidate, attempt, **LATE).status_code == 404


def test_more_alerts_than_a_transcript_holds_are_refused():
    most = next(one.max_length for one in Prevent.model_fields["alerts"].metadata)
    assert most == alerts.MOST

    class Post(dict):
        def getlist(self, name):
            return [f"step-time:{number}.0:1:1" for number in range(alerts.MOST + 1)] if name == "alert" else []

    with pytest.raises(Slip, match=f"{most} alerts are enough"):
        alerts.kept(Post(), ("step-time",))


def test_before_the_close_nothing_of_the_hidden_cause_is_tried(candidate, draws_cause):
    """The same alert does the same whatever was drawn: before the close it meets healthy runs alone."""
    shown = set()
    for cause in ("degraded-link", "throttled-rank", "no-overlap"):
        draws_cause(cause)
        attempt = candidate.start()
        page = tried(candidate, attempt, **LATE).content.decode()
        part = page[page.index('class="tried"') :]
        shown.add(part[: part.index("</details>")])
    assert len(shown) == 1


def test_a_table_without_a_training_job_offers_no_alert(monkeypatch):
    monkeypatch.setattr(alert_trials, "recorded", lambda table: ())
    assert alerting.builder(TABLE, None, Typed()) is None


def test_a_closed_attempt_tries_nothing_there(candidate):
    attempt = candidate.start()
    candidate.do(attempt, "close")
    assert tried(candidate, attempt, **LATE).status_code == 302


@pytest.mark.parametrize(
    "key, sentence",
    [
        ("step-time:0.9:1:1", "Step time above 900 ms at any point"),
        ("step-time:0.9:3:3", "Step time above 900 ms at 3 points in a row"),
        ("samples-per-second:5.5:4:2", "Useful work, all ranks below 5.50 samples/s in 2 of the last 4 points"),
    ],
)
def test_an_alert_is_said_in_a_sentence_and_carried_whole(key, sentence):
    written = alerts.from_key(key)
    assert (written.sentence, written.key) == (sentence, key)
    assert alerts.of_event(written.said()) == written


def test_an_alert_on_a_metric_that_is_no_longer_recorded_is_left_out():
    assert alerts.of_event({"metric": "gone", "threshold": 1.0}) is None
