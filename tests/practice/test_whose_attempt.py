"""An attempt is for the browser that opened it, also tomorrow; for anybody else it is not there."""

from __future__ import annotations

import pytest
from django.urls import reverse

from gpu_worker.models import Evidence
from practice.models import Person
from tests.practice.conftest import Candidate, kinds, token

PAGES = ["attempt", "conclusion", "scorecard", "transcript"]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("somebody", [True, False], ids=["another person", "nobody yet"])
def test_another_person_finds_no_page_of_it(ada, stranger, name, somebody):
    attempt = ada.start()
    if somebody:
        stranger.start()
    assert stranger.client.get(reverse(f"practice:{name}", args=[attempt.pk])).status_code == 404


def test_another_person_can_order_nothing_in_it(ada, stranger):
    attempt = ada.start()
    stranger.start()
    for kind in ("note", "step", "close"):
        assert stranger.do(attempt, kind, text="mine", step="per-rank-step-times").status_code == 404
    assert kinds(attempt) == []


def test_evidence_is_found_only_through_its_own_attempt(ada, stranger):
    attempt, other = ada.start(), ada.start()
    ada.step(attempt, "per-rank-step-times")
    row = Evidence.objects.get(owner=attempt.owner)
    for name in ("evidence", "evidence_json", "evidence_csv"):
        assert stranger.client.get(reverse(f"practice:{name}", args=[attempt.pk, row.pk])).status_code == 404
        assert ada.client.get(reverse(f"practice:{name}", args=[other.pk, row.pk])).status_code == 404
    assert ada.client.get(reverse("practice:evidence_json", args=[attempt.pk, row.pk])).status_code == 200


def test_looking_at_the_first_page_makes_nobody(ada):
    ada.client.get(reverse("practice:home"))
    assert Person.objects.count() == 0


def test_an_open_attempt_waits_on_the_first_page_and_is_as_it_was_left(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    plain_ada.do(attempt, "note", text="to be continued")
    tomorrow = Candidate()
    tomorrow.client.cookies = plain_ada.client.cookies
    home = tomorrow.client.get(reverse("practice:home")).content.decode()
    assert reverse("practice:attempt", args=[attempt.pk]) in home
    page = tomorrow.page(attempt)
    assert "to be continued" in page and "Per-rank step times" in page and "<table" in page


@pytest.mark.parametrize("who", ["ada", "plain_ada"])
@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("step", {"step": "per-rank-step-times"}),
        ("note", {"text": "late"}),
        ("estimate", {"collective-floor-production": "5.6 s"}),
        ("restore", {"causes": ["no-overlap"]}),
        ("fix", {"fix": "restart-job"}),
    ],
)
def test_a_closed_attempt_takes_nothing_more_and_says_so(request, who, kind, fields):
    candidate = request.getfixturevalue(who)
    attempt = candidate.start()
    candidate.do(attempt, "close")
    answer = candidate.do(attempt, kind, with_token=token(), **fields)
    assert answer.status_code == 409
    assert "This attempt is closed" in answer.content.decode()
    assert kinds(attempt) == ["close"]


def test_before_the_close_there_is_no_scorecard_and_no_transcript(plain_ada):
    attempt = plain_ada.start()
    for name in ("scorecard", "transcript"):
        answer = plain_ada.client.get(reverse(f"practice:{name}", args=[attempt.pk]))
        assert answer.status_code == 302 and answer["Location"] == reverse("practice:attempt", args=[attempt.pk])
