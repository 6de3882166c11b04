"""A sprint from start to end: asked, answered, told, repeated; each order counts once."""

from __future__ import annotations

import pytest
from django.urls import reverse

from practice.drills import items, scopes
from practice.models import Memory, Question, Sprint
from tests.practice.conftest import token
from tests.practice.drills.conftest import last, posed, right


@pytest.mark.parametrize("who", ["ada", "plain_ada"])
@pytest.mark.parametrize("scope", ["napkin", "concept"])
def test_a_sprint_asks_so_many_questions_and_says_how_it_went(request, who, scope):
    driller = request.getfixturevalue(who)
    sprint = driller.start(scope)
    for number in range(5):
        page = driller.page(sprint)
        assert f"Question {number + 1} of 5" in page
        driller.answer(sprint, **right(sprint))
        assert last(sprint).verdict == "right", posed(sprint)
        driller.go_on(sprint)
    sprint.refresh_from_db()
    assert sprint.is_closed
    assert sprint.questions.count() == 5
    page = driller.page(sprint)
    assert '<span class="num">5</span> of <span class="num">5</span> right' in page
    assert len({question.item for question in sprint.questions.all()}) == 5


def test_every_item_can_be_asked_answered_and_read_again(plain_ada):
    """Whatever a release holds: its form, its result, its rereading."""
    sprint = plain_ada.start()
    question = last(sprint)
    for id in items.every():
        found = items.pose(id, 11)
        assert found is not None
        Question.objects.filter(pk=question.pk).update(
            item=id, seed=11, fingerprint=found.fingerprint, answered_at=None, verdict="", answer={}, rating=None
        )
        assert plain_ada.client.get(reverse("practice:sprint", args=[sprint.pk])).status_code == 200
        plain_ada.answer(sprint, **right(sprint))
        assert last(sprint).verdict == "right", id
        page = plain_ada.page(sprint)
        assert "Right" in page and "rated good" in page
        told = found.drill.steps[0] if found.drill else found.concept.source.title
        assert _escaped(told) in page


def _escaped(text: str) -> str:
    from django.utils.html import escape

    return escape(text)


def test_the_result_names_the_slip_and_shows_the_derivation(ada):
    sprint = ada.start("napkin:collectives")
    found = next(p for p in (items.pose("napkin:ring-all-reduce/1", seed) for seed in range(50)) if p.drill.slips)
    Question.objects.filter(pk=last(sprint).pk).update(
        item=found.item.id, seed=found.seed, fingerprint=found.fingerprint
    )
    slip = found.drill.slips[0]
    page = ada.answer(sprint, typed=f"{slip.value:.4g} s").content.decode()
    assert last(sprint).verdict == "slip" and last(sprint).slip == slip.name
    assert _escaped(slip.told) in page and _escaped(found.drill.steps[-1]) in page
    assert found.drill.answer_text in page and "within 3 %" in page
    assert "comes up again in 10 minutes" in page and "again: it was not right" in page
    assert 'id="said"' in page


def test_an_answer_sent_twice_counts_once_and_the_first_one_stays(ada):
    sprint = ada.start()
    good = right(sprint)
    ada.answer(sprint, **good)
    first = last(sprint)
    again = ada.send(sprint, "answer", index=first.index, typed="3 s")
    assert again.status_code == 200
    assert last(sprint).answer == first.answer and last(sprint).verdict == "right"
    assert Memory.objects.get(item=first.item).state["stability"] == Memory.objects.get().state["stability"]
    assert sprint.questions.answered().count() == 1


def test_going_on_twice_asks_one_question(ada):
    sprint = ada.start()
    ada.answer(sprint, **right(sprint))
    for _ in range(2):
        ada.send(sprint, "next", index=0)
    assert sprint.questions.count() == 2


def test_going_on_without_an_answer_asks_nothing(ada):
    sprint = ada.start()
    ada.go_on(sprint)
    assert sprint.questions.count() == 1


def test_a_doubled_start_opens_one_sprint(plain_ada):
    again = token()
    assert plain_ada.start(with_token=again) == plain_ada.start(with_token=again)
    assert Sprint.objects.count() == 1


def test_a_question_that_is_shown_and_not_answered_comes_back(ada):
    sprint = ada.start()
    page = ada.answer(sprint, give_up="1").content.decode()
    assert "Shown, not answered" in page and last(sprint).rating == 1


def test_a_concept_that_is_shown_tells_what_holds(ada):
    sprint = ada.start("concept")
    page = ada.answer(sprint, give_up="1").content.decode()
    concept = posed(sprint).concept
    for one in (*concept.choice, *concept.order, *concept.match):
        assert _escaped(one.why) in page


def test_a_sprint_of_minutes_ends_with_the_first_question_after_them(ada, later):
    sprint = ada.start(length="3-minutes")
    ada.answer(sprint, **right(sprint))
    ada.go_on(sprint)
    assert sprint.questions.count() == 2
    later(minutes=4)
    ada.answer(sprint, **right(sprint))
    ada.go_on(sprint)
    sprint.refresh_from_db()
    assert sprint.is_closed and sprint.questions.answered().count() == 2


def test_ending_early_leaves_the_open_question_uncounted(plain_ada):
    sprint = plain_ada.start()
    plain_ada.answer(sprint, **right(sprint))
    plain_ada.go_on(sprint)
    plain_ada.send(sprint, "end")
    sprint.refresh_from_db()
    assert sprint.is_closed and sprint.questions.count() == 1
    refused = plain_ada.send(sprint, "answer", index=1, typed="3 s")
    assert refused.status_code == 302 and sprint.questions.count() == 1


def test_a_question_that_an_update_changed_is_not_judged(ada):
    sprint = ada.start()
    Question.objects.filter(pk=last(sprint).pk).update(fingerprint="of-another-time")
    answer = ada.answer(sprint, typed="3 s")
    assert answer.status_code == 409
    assert "was changed by an update" in answer.content.decode()
    assert sprint.questions.count() == 1 and not last(sprint).is_answered
    assert not Memory.objects.exists()


def test_an_item_that_an_update_took_away_is_replaced(ada):
    sprint = ada.start()
    Question.objects.filter(pk=last(sprint).pk).update(item="napkin:gone/1")
    assert ada.client.get(reverse("practice:sprint", args=[sprint.pk])).status_code == 200
    assert last(sprint).item in items.every()


def test_a_result_whose_wording_changed_since_keeps_its_verdict(plain_ada):
    sprint = plain_ada.start()
    plain_ada.answer(sprint, **right(sprint))
    Question.objects.update(fingerprint="of-another-time")
    page = plain_ada.page(sprint)
    assert "changed by an update since" in page and "Right" in page


@pytest.mark.parametrize("scope", sorted(scopes.SCOPES))
def test_a_sprint_asks_only_of_its_scope_and_level(plain_ada, scope):
    sprint = plain_ada.start(scope, level="2")
    found = posed(sprint).item
    assert found.id in scopes.members(scope, 2)
    assert found.level in (0, 2)


def test_a_topic_of_the_list_starts_a_sprint_about_it(plain_ada):
    """The list's buttons send the form's own choice first, and theirs after it."""
    home = plain_ada.home()
    assert 'form="sprint-form" name="scope" value="napkin:memory"' in home
    data = {"scope": ["all", "napkin:memory"], "level": "3", "length": "5-questions", "token": token()}
    answer = plain_ada.client.post(reverse("practice:start_sprint"), data)
    assert answer.status_code == 302
    assert Sprint.objects.get().scope == "napkin:memory"


def test_a_sprint_belongs_to_its_browser(ada, stranger):
    sprint = ada.start()
    stranger.start()
    for name in ("sprint", "drill_answer", "drill_next", "drill_end"):
        assert stranger.client.get(reverse(f"practice:{name}", args=[sprint.pk])).status_code == 404
    assert stranger.client.post(reverse("practice:drill_end", args=[sprint.pk])).status_code == 404
    sprint.refresh_from_db()
    assert not sprint.is_closed


def test_an_order_that_is_only_looked_at_leads_back(plain_ada):
    sprint = plain_ada.start()
    for name in ("drill_answer", "drill_next", "drill_end"):
        assert plain_ada.client.get(reverse(f"practice:{name}", args=[sprint.pk])).status_code == 302
    assert plain_ada.client.get(reverse("practice:drill_question", args=[sprint.pk, 0])).status_code == 302
    assert not last(sprint).is_answered


def test_the_page_of_components_shows_a_question_and_a_slip(rf):
    from practice.views.components import page

    html = page(rf.get("/components/")).content.decode()
    assert "5.6 of what?" in html and "2(n−1)/n forgotten" in html
