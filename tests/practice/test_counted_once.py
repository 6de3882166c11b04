"""A doubled click, a form sent again, two tabs: each order counts once."""

from __future__ import annotations

import pytest
from django.urls import reverse

from gpu_worker.models import Evidence
from practice import attempts, steps
from practice.events import append
from practice.models import AppendOnly, Attempt, Event
from tests.practice.conftest import KEY, kinds, token


def test_a_doubled_click_on_start_opens_one_attempt(ada):
    again = token()
    for _ in range(2):
        ada.client.post(reverse("practice:start", args=[KEY]), {"token": again})
    assert Attempt.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("ask", {"fact": "topology"}),
        ("estimate", {"collective-floor-production": "5.6 s", "collective-floor-lab": "0.4 s"}),
        ("verdict", {"collective": "at-floor"}),
        ("hypothesis", {"causes": ["no-overlap"]}),
        ("rule_out", {"causes": ["no-overlap"]}),
        ("note", {"text": "once"}),
        ("hint", {"level": "1"}),
        ("diagnose", {"causes": ["no-overlap"], "confidence": "50"}),
        ("success", {"metric": "step-time", "threshold": "700 ms"}),
        ("prevent", {"measures": ["link-metrics"]}),
    ],
)
def test_a_form_sent_twice_is_one_order(ada, kind, fields):
    attempt, again = ada.start(), token()
    first = ada.do(attempt, kind, with_token=again, **fields)
    after_first = kinds(attempt)
    second = ada.do(attempt, kind, with_token=again, **fields)
    assert (first.status_code, second.status_code) == (200, 200)
    assert kinds(attempt) == after_first


def test_a_step_chosen_twice_by_one_form_is_one_evidence_and_one_event(ada):
    attempt, again = ada.start(), token()
    for _ in range(2):
        ada.do(attempt, "step", with_token=again, step="per-rank-step-times")
    assert Evidence.objects.filter(owner=attempt.owner).count() == 1
    assert kinds(attempt) == ["step"]


def test_two_tabs_that_settle_at_once_write_one_event(ada, now):
    attempt = ada.start()
    ada.step(attempt, "per-rank-step-times")
    event = attempt.events.get(kind="step")
    row = Evidence.objects.get(owner=attempt.owner)
    # The other tab has read the evidence before this one wrote the event.
    assert steps._settle_one(attempt, row, event.attempt.opened_at) is None
    assert kinds(attempt) == ["step"]


def test_a_reading_whose_event_was_lost_with_the_process_gets_it_at_the_next_page(ada):
    from django.db import connection

    attempt = ada.start()
    ada.step(attempt, "per-rank-step-times")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM practice_event")
    ada.page(attempt)
    assert kinds(attempt) == ["step"]


def test_closing_twice_gives_one_scorecard(ada, now):
    attempt = ada.start()
    ada.do(attempt, "close")
    card = attempts.close(Attempt.objects.get(pk=attempt.pk), token=token(), now=attempt.opened_at)
    assert card.attempt_id == attempt.pk
    assert kinds(attempt) == ["close"]


def test_the_log_cannot_be_changed_or_thrown_away(ada):
    attempt = ada.start()
    ada.do(attempt, "note", text="as it was")
    event = attempt.events.get()
    with pytest.raises(AppendOnly):
        event.save()
    with pytest.raises(AppendOnly):
        event.delete()
    with pytest.raises(AppendOnly):
        Event.objects.filter(pk=event.pk).update(kind="close")
    with pytest.raises(AppendOnly):
        Event.objects.filter(pk=event.pk).delete()


def test_events_are_numbered_without_gaps(ada):
    attempt = ada.start()
    for at in range(4):
        append(attempt, "note", {"text": str(at)}, token=f"t{at}", now=attempt.opened_at)
    assert list(attempt.events.values_list("index", flat=True)) == [0, 1, 2, 3]
