"""An exercise from its start to its result: drawn, kept while it is written, judged once, shown with what holds."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from practice.design import items
from practice.models import DesignAttempt
from tests.practice.conftest import token
from tests.practice.design.conftest import posed, put, right

ITEMS = sorted(items.every())
JUDGED = [id for id in ITEMS if not items.every()[id][0].by_oneself]
QUESTIONS = [id for id in ITEMS if items.every()[id][0].by_oneself]


def test_there_is_an_exercise_for_each_day_that_is_no_incident():
    assert {kind.day for kind in items.every_kind()} == {"day 1", "day 2", "day 4", "day 5"}
    assert len(QUESTIONS) >= 4


def test_the_page_offers_every_exercise_and_the_first_page_leads_there(ada):
    home = ada.home()
    for id, (kind, item) in items.every().items():
        assert f'name="item" value="{id}"' in home and (escape(item.title) in home or escape(kind.title) in home)
    assert f'href="{reverse("practice:design")}"' in ada.client.get(reverse("practice:home")).content.decode()


@pytest.mark.parametrize("item", JUDGED)
def test_what_is_right_is_right_in_every_line(ada, item):
    attempt = ada.start(item)
    assert ada.send(attempt, "answer", right(attempt)).status_code == 302
    assert attempt.right == attempt.asked > 3
    page = ada.page(attempt)
    assert f'<span class="num">{attempt.right}</span> of <span class="num">{attempt.asked}</span> right' in page
    assert 'class="miss"' not in page and "Again, with other numbers" in page
    assert f"{attempt.right} of {attempt.asked}" in ada.home()


@pytest.mark.parametrize("item", JUDGED)
@pytest.mark.parametrize("seed", range(6))
def test_every_seed_can_be_asked_answered_and_read(ada, item, seed):
    attempt = ada.start(item)
    put(attempt, item, seed)
    assert "Hand it in" in ada.page(attempt)
    ada.send(attempt, "answer", right(attempt))
    assert attempt.right == attempt.asked
    assert ada.page(attempt)


def test_a_wrong_group_is_told_with_its_ranks_and_what_crossing_costs(ada):
    attempt = ada.start("groups/2")
    put(attempt, "groups/2", 5)
    form = right(attempt)
    first, second = list(form)[:2]
    ada.send(attempt, "answer", form | {first: form[second], "crosses": []})
    assert 0 < attempt.right < attempt.asked
    page = ada.page(attempt)
    assert f"These are the {second} groups" in page and "What crossing costs" in page
    assert re.search(r"Ranks \d+ and \d+ are in one \w+ group, on node \d and on node \d\.", page)
    assert "cell set g0 off" in page


def test_a_wrong_shape_is_told_and_all_reasons_are_shown(ada):
    attempt = ada.start("shapes")
    form = right(attempt)
    field = next(name for name in form if name.startswith("0-"))
    ada.send(attempt, "answer", form | {field: ["1 2 3 4 5"]})
    assert attempt.right == attempt.asked - 1
    page = ada.page(attempt)
    assert "That has 5 dimensions" in page and "yours: </span>[1, 2, 3, 4, 5]</s>" in page
    for traced in posed(attempt).task.layers:
        assert all(escape(trace.why) in page for trace in traced.layer.traces)


def test_a_cadence_is_shown_with_its_curve_and_its_table(ada):
    attempt = ada.start("cadence")
    ada.send(attempt, "answer", right(attempt) | {"interval-local": ["10 h"]})
    assert attempt.right == attempt.asked - 2  # and the loss is another one at that interval
    page = ada.page(attempt)
    assert "data-chart" in page and "√(2 · " in page and "over the window" in page


def test_an_answer_sent_twice_counts_once_and_the_first_one_stays(ada):
    attempt = ada.start("shapes")
    form = right(attempt)
    ada.send(attempt, "answer", form | {next(iter(form)): ["1"]})
    first = (attempt.right, attempt.answer, attempt.answered_at)
    ada.send(attempt, "answer", form)
    assert (attempt.right, attempt.answer, attempt.answered_at) == first


@pytest.mark.parametrize("item", ITEMS)
def test_who_asks_to_be_shown_sees_what_holds_and_earns_nothing(ada, item):
    attempt = ada.start(item)
    ada.send(attempt, "answer", {"give_up": "1"})
    assert attempt.is_answered and attempt.shown and not attempt.right
    page = ada.page(attempt)
    assert "Shown, not answered" in page and "shown" in ada.home()
    judged = posed(attempt).kind.judge(posed(attempt).task, right(attempt))
    assert all(escape(line.holds) in page for line in judged.lines)


def test_a_doubled_start_opens_one_and_another_exercise_of_the_same_page_another(ada):
    again = token()
    assert ada.start("shapes", again) == ada.start("shapes", again)
    assert ada.start("cadence", again).item == "cadence"
    assert DesignAttempt.objects.count() == 2


def test_the_same_page_starts_anew_once_its_exercise_was_handed_in(ada):
    again = token()
    first = ada.start("shapes", again)
    ada.send(first, "answer", right(first))
    second = ada.start("shapes", again)
    assert second != first and not second.is_answered


def test_two_starts_have_numbers_of_their_own(ada):
    assert len({ada.start("cadence").seed for _ in range(4)}) == 4


def test_what_is_written_is_kept_until_it_is_handed_in(ada):
    attempt = ada.start("question/" + QUESTIONS[0].partition("/")[2])
    kept = ada.send(attempt, "draft", {"baseline": "half a <thought>"}, htmx=True)
    assert "Kept at" in kept.content.decode()
    assert 'rows="5" maxlength="8000">half a &lt;thought&gt;</textarea>' in ada.page(attempt)
    assert ada.send(attempt, "draft", {"baseline": "more of it"}).status_code == 302
    assert ">more of it</textarea>" in ada.page(attempt)
    ada.send(attempt, "answer", {"baseline": "all of it"})
    late = ada.send(attempt, "draft", {"baseline": "too late"}, htmx=True)
    assert "handed in already" in late.content.decode() and attempt.answer == {"baseline": ["all of it"]}


@pytest.mark.parametrize("item", QUESTIONS)
def test_a_question_is_marked_by_oneself_and_the_mark_can_be_done_over(ada, item):
    attempt = ada.start(item)
    points = list(posed(attempt).task.points())
    assert ada.send(attempt, "mark", {"point": points}).status_code == 409
    ada.send(attempt, "answer", {"ownership": "each rank has a sixteenth"})
    assert attempt.is_answered and attempt.right is None
    page = ada.page(attempt)
    assert "Now mark it" in page and "each rank has a sixteenth" in page and "not marked yet" in ada.home()
    ada.send(attempt, "mark", {"point": [points[0], points[3], "baseline-99"]})
    assert attempt.marks == [points[0], points[3]] and (attempt.right, attempt.asked) == (2, len(points))
    ada.send(attempt, "mark", {"point": points[:1]})
    assert attempt.right == 1
    assert "by your own mark" in ada.page(attempt) and f'value="{points[0]}" checked' in ada.page(attempt)


def test_a_question_that_was_shown_has_nothing_to_mark(ada):
    attempt = ada.start(QUESTIONS[0])
    points = list(posed(attempt).task.points())
    ada.send(attempt, "answer", {"give_up": "1"})
    assert ada.send(attempt, "mark", {"point": points}).status_code == 409
    assert not attempt.right


def test_new_lines_are_kept_as_they_were_typed(ada):
    attempt = ada.start(QUESTIONS[0])
    ada.send(attempt, "answer", {"baseline": "a\r\nb" + "c" * 7996})
    assert attempt.answer["baseline"] == ["a\nb" + "c" * 7996]


def test_what_was_just_written_stays_where_an_update_came_between(ada):
    attempt = ada.start("cadence")
    DesignAttempt.objects.update(fingerprint="of-another-time")
    assert ada.send(attempt, "answer", {"mtbf": "3 h", "items": "7"}).status_code == 409
    page = ada.page(attempt)
    assert "What you wrote is below" in page and "3 h" in page and ">7<" in page


def test_an_exercise_that_an_update_changed_is_not_judged_and_what_was_written_stays(ada):
    attempt = ada.start("cadence")
    ada.send(attempt, "draft", {"mtbf": "3 h"})
    DesignAttempt.objects.update(fingerprint="of-another-time")
    answer = ada.send(attempt, "answer", {"mtbf": "3 h"})
    assert answer.status_code == 409 and not attempt.is_answered
    page = ada.page(attempt)
    assert "changed by an update since" in page and "3 h" in page


def test_a_result_whose_exercise_changed_since_keeps_how_it_went(ada):
    attempt = ada.start("shapes")
    ada.send(attempt, "answer", right(attempt))
    DesignAttempt.objects.update(fingerprint="of-another-time")
    assert f"{attempt.right} of {attempt.asked}" in ada.page(attempt)
    DesignAttempt.objects.update(item="gone/1")
    assert f"{attempt.right} of {attempt.asked}" in ada.page(attempt) and ada.home()


def test_an_attempt_belongs_to_its_browser(ada, stranger):
    attempt = ada.start("shapes")
    stranger.start("shapes")
    for name in ("design_attempt", "design_answer", "design_draft", "design_mark"):
        address = reverse(f"practice:{name}", args=[attempt.pk])
        assert stranger.client.get(address).status_code == 404
        assert stranger.client.post(address).status_code in (404, 405)
    attempt.refresh_from_db()
    assert not attempt.is_answered and attempt.answer == {}


def test_an_order_that_is_only_looked_at_leads_back(ada):
    attempt = ada.start("shapes")
    for name in ("answer", "draft", "mark"):
        assert ada.client.get(reverse(f"practice:design_{name}", args=[attempt.pk])).status_code == 302
    assert ada.client.get(reverse("practice:start_design")).status_code == 302
    attempt.refresh_from_db()
    assert not attempt.is_answered and attempt.answer == {}


def test_the_page_of_components_shows_forms_and_a_result(rf):
    from practice.views.components import page

    html = page(rf.get("/components/")).content.decode()
    assert html.count("I cannot read “plum”.") == 3
    assert "What crossing costs" in html and "Mean time between failures of the whole job" in html
