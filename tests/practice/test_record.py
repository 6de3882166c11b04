"""One's own progress: by criterion with its uncertainty, the level or why there is none, what to practise next."""

from __future__ import annotations

import pytest
from django.urls import reverse

from practice import record
from practice.models import Attempt, Person, Scorecard
from practice.record import CriterionLine
from tests.practice.conftest import Candidate


def line(*scores: float, id: str = "split", weight: float = 0.1) -> CriterionLine:
    return CriterionLine(id, id, scores, weight, None, None)


def closed(candidate: Candidate, times: int) -> Person:
    for _ in range(times):
        attempt = candidate.start()
        candidate.do(attempt, "verdict", collective="below-floor")
        candidate.step(attempt, "per-rank-step-times")
        candidate.do(attempt, "diagnose", causes=["degraded-link"], confidence="60")
        candidate.do(attempt, "close")
    return Attempt.objects.first().person


def test_before_the_first_close_the_page_says_what_will_stand_there(plain_ada):
    page = plain_ada.client.get(reverse("practice:record")).content.decode()
    assert "Nothing yet" in page and 'aria-current="page"' in page


def test_each_criterion_stands_with_its_mean_and_interval(plain_ada, draws_cause):
    draws_cause("degraded-link")
    person = closed(plain_ada, 3)
    told = record.record(person)
    assert told.attempts == 3
    by_id = {one.id: one for one in told.lines}
    assert by_id["split"].scores == (1.0, 1.0, 1.0)
    assert (by_id["split"].low, by_id["split"].high) == (1.0, 1.0)
    rows = {id: [card.body["criteria"][id]["score"] for card in Scorecard.objects.order_by("attempt__closed_at")]
            for id in ("quantify", "rule-outs", "diagnosis")}  # fmt: skip
    assert all(by_id[id].scores == tuple(scores) for id, scores in rows.items())
    assert by_id["diagnosis"].low <= by_id["diagnosis"].mean <= by_id["diagnosis"].high
    page = plain_ada.client.get(reverse("practice:record")).content.decode()
    assert "A level needs 8 attempts over 3 tracks; there are 3 attempts over 1 track." in page
    assert "It needs 20 diagnoses with a confidence; 3 so far." in page
    assert page.count('<th scope="row">') == len(told.lines)


def test_what_costs_most_is_offered_next_with_questions_on_it(plain_ada, draws_cause):
    draws_cause("degraded-link")
    person = closed(plain_ada, 2)
    told = record.weakest(person)
    assert told is not None and told.scope == "concept:floor", "no floor was said, and it weighs most"
    for name in ("home", "record"):
        page = plain_ada.client.get(reverse(f"practice:{name}")).content.decode()
        assert "What to practise next" in page and 'value="concept:floor"' in page
    started = plain_ada.client.post(
        reverse("practice:start_sprint"),
        {"token": "token-from-there", "scope": told.scope, "level": "0", "length": "5-questions"},
    )
    assert started.status_code == 302 and "/drills/" in started["Location"]


def test_nobody_sees_anothers(plain_ada, stranger):
    closed(plain_ada, 2)
    assert "Nothing yet" in stranger.client.get(reverse("practice:record")).content.decode()


def test_a_scorecard_that_cannot_be_read_is_left_out_and_the_rest_stands(plain_ada, caplog):
    person = closed(plain_ada, 2)
    Scorecard.objects.filter(pk=Scorecard.objects.first().pk).update(body={"total": "much"})
    assert record.record(person).attempts == 1
    assert "is left out" in caplog.text


def test_one_attempt_names_no_weakness(plain_ada):
    assert record.weakest(closed(plain_ada, 1)) is None
    assert record.weakest(None) is None


@pytest.mark.parametrize(
    "scores, trend",
    [
        ((0.5,) * 7, ""),
        ((0.2,) * 3 + (0.6,) * 5, "better"),
        ((0.6,) * 3 + (0.2,) * 5, "worse"),
        ((0.6,) * 3 + (0.65,) * 5, "steady"),
    ],
)
def test_a_trend_is_told_once_there_is_enough_to_compare(scores, trend):
    assert line(*scores).trend == trend


def test_the_weakest_is_what_costs_most_not_what_is_lowest():
    low, heavy, once = line(0.0, 0.0, weight=0.04), line(0.5, 0.5, id="quantify", weight=0.22), line(0.0, id="bisect")
    assert record._weakest([low, heavy, once]).title == "quantify"
    assert record._weakest([line(0.2, 0.2, id="efficiency")]).scope == ""
    assert record._weakest([line(1.0, 1.0)]) is None
