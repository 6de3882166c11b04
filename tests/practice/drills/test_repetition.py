"""What is due, how an answer is rated, and what the page makes of it over time."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest
from django.utils.html import escape

from practice.drills import items, schedule, scopes
from practice.models import Memory
from scenarios.concept_format import Trains
from tests.practice.drills.conftest import last, right


def test_right_is_good_slow_is_hard_and_all_else_is_again():
    assert schedule.rating_of(True, 20, 60) is schedule.GOOD
    assert schedule.rating_of(True, 61, 60) is schedule.HARD
    assert schedule.rating_of(False, 1, 60) is schedule.AGAIN


def test_what_is_known_comes_back_in_days_then_weeks_and_what_is_not_in_minutes(now):
    known = schedule.review(None, schedule.GOOD, now)
    assert timedelta(days=1) <= known.due - now <= timedelta(days=4)
    known_again = schedule.review(known.state, schedule.GOOD, known.due)
    assert known_again.due - known.due > 2 * (known.due - now)
    missed = schedule.review(known_again.state, schedule.AGAIN, known_again.due)
    assert missed.due - known_again.due <= timedelta(minutes=10)


def test_the_same_reviews_give_the_same_dates(now):
    one, other = (schedule.review(None, schedule.GOOD, now) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(("wait", "rating"), [(5, 3), (600, 2)])
def test_a_slow_answer_is_rated_hard_and_the_page_says_so(ada, later, wait, rating):
    sprint = ada.start()
    later(seconds=wait)
    page = ada.answer(sprint, **right(sprint)).content.decode()
    assert last(sprint).rating == rating
    assert schedule.SAID[schedule.Rating(rating)] in page


def test_what_was_missed_is_due_within_the_hour_and_asked_first(ada, later):
    sprint = ada.start()
    ada.answer(sprint, give_up="1")
    missed = last(sprint).item
    assert "Nothing is due now." in ada.home()
    later(minutes=11)
    home = ada.home()
    assert "Repeat what is due" in home and escape(items.every()[missed].title) in home
    repeat = ada.start(scope="due", level="0", length="20-questions")
    assert last(repeat).item == missed
    assert last(repeat).seed != last(sprint).seed
    ada.answer(repeat, **right(repeat))
    ada.go_on(repeat)
    repeat.refresh_from_db()
    assert repeat.is_closed
    assert Memory.objects.get(item=missed).due > later()


def test_nothing_due_is_said_and_opens_nothing(plain_ada):
    answer = plain_ada.send_start(scope="due", level="0")
    assert answer.status_code == 409
    assert "Nothing is due." in answer.content.decode()


def test_what_is_due_goes_first_then_what_is_new_then_the_rest(now):
    day = timedelta(days=1)
    due = {"a": now - day, "b": now - 2 * day, "c": now + day}
    assert scopes.choose("abcd", due, [], now, lambda n: 0) == "b"
    assert scopes.choose("abcd", due, ["b"], now, lambda n: 0) == "a"
    assert scopes.choose("cd", due, [], now, lambda n: n - 1) == "d"
    assert scopes.choose("c", due, [], now, lambda n: 0) == "c"
    assert scopes.choose("c", due, ["c"], now, lambda n: 0) == "c"
    assert scopes.choose("cd", due, [], now, lambda n: 0, only_due=True) is None


def test_every_step_that_a_concept_trains_can_be_chosen():
    assert tuple(scopes.STEPS) == get_args(Trains)
    assert {item.part for item in items.every().values() if item.kind == "concept"} == set(scopes.STEPS)


def test_an_item_does_not_come_twice_in_a_row(now):
    asked = ["a", "b", "c"]
    for at in range(3):
        assert scopes.choose("abcd", {}, asked, now, lambda n, at=at: min(at, n - 1)) == "d"


def test_confidence_is_scored_from_twenty_answers_on(ada, later):
    said = 0
    while said < 20:
        sprint = ada.start(length="20-questions")
        if said == 0:
            assert "It needs 20 answers with a confidence" not in ada.home()
        for _ in range(10):
            ada.answer(sprint, sure="90", **right(sprint)) if said % 2 else ada.answer(
                sprint, sure="90", **_wrong(sprint)
            )
            ada.go_on(sprint)
            said += 1
        home = ada.home()
        if said < 20:
            assert f"It needs 20 answers with a confidence; {said} so far." in home
    assert "Brier score" in home and "surer than right, by 40 %" in home
    assert '<span class="num">0.410</span>' in home


def _wrong(sprint) -> dict[str, str]:
    from tests.practice.drills.conftest import posed

    drill = posed(sprint).drill
    value = drill.answer * (3 if not drill.exact else 1) + (1 if drill.exact else 0)
    unit = {"time": "s", "data": "B", "rate": "b/s", "compute": "FLOP", "compute-rate": "FLOP/s"}.get(drill.kind, "")
    return {"typed": f"{value:.12g} {unit}".strip()}


def test_history_weak_points_and_slips_stand_on_the_page(ada):
    sprint = ada.start()
    ada.answer(sprint, **_wrong(sprint))
    home = ada.home()
    assert "0 of 1" in home and "weakest first" in home
    assert scopes.part_title(items.every()[last(sprint).item]) in home
