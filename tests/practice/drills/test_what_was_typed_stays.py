"""An answer that is none is told beside its field, keeps what was typed, and costs nothing."""

from __future__ import annotations

import pytest

from practice.drills import items
from practice.models import Memory, Question
from tests.practice.drills.conftest import last, right


def put(sprint, id: str, seed: int = 4) -> items.Posed:
    """Makes the open question that of an item."""
    found = items.pose(id, seed)
    Question.objects.filter(pk=last(sprint).pk).update(item=id, seed=seed, fingerprint=found.fingerprint)
    return found


@pytest.mark.parametrize("who", ["ada", "plain_ada"])
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("banana", "I cannot read “banana”. Write a time like 5.6 s."),
        ("5.6", "5.6 of what? Write the unit too"),
        ("280 GB", "280 GB is an amount of data, and a time is asked for."),
        ("5,6 s", "Write a decimal point"),
        ("", "Nothing was typed."),
        ("9" * 300, "a quantity has at most 64"),
        ("<b>1</b> s", "I cannot read"),
    ],
)
def test_a_number_that_is_none(request, who, typed, said):
    driller = request.getfixturevalue(who)
    sprint = driller.start()
    put(sprint, "napkin:ring-all-reduce/1")
    answer = driller.answer(sprint, typed=typed, sure="70")
    html = answer.content.decode()
    assert answer.status_code == 422
    assert said in html and 'id="typed-error"' in html and 'aria-invalid="true"' in html
    assert f'value="{typed}"' in html or "<" in typed
    assert "<b>1</b>" not in html
    assert 'value="70" checked' in html
    assert not last(sprint).is_answered and not Memory.objects.exists()


def test_a_place_given_twice_keeps_the_others(ada):
    sprint = ada.start("concept")
    put(sprint, "concept:the-replay-test")
    given = right(sprint) | {"place-a": "2", "place-b": "2"}
    html = ada.answer(sprint, **given).content.decode()
    assert "Place 2 is taken" in html and "selected" in html
    assert not last(sprint).is_answered


def test_nothing_ticked_is_said(ada):
    sprint = ada.start("concept")
    put(sprint, "concept:a-bug-or-physics")
    answer = ada.answer(sprint)
    assert answer.status_code == 422 and "Tick at least one" in answer.content.decode()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"scope": "astrology"}, "Choose what to be asked about from the list."),
        ({"level": "9"}, "Choose a level from 1 to 3, or any."),
        ({"length": "7-questions"}, "Choose how long the sprint is from the list."),
        ({"length": "5-hours"}, "Choose how long the sprint is from the list."),
    ],
)
def test_a_start_that_cannot_be_is_refused_in_place(plain_ada, fields, said):
    answer = plain_ada.send_start(**fields)
    assert answer.status_code == 422 and said in answer.content.decode()


def test_a_confidence_that_was_not_offered_is_refused(ada):
    sprint = ada.start()
    answer = ada.answer(sprint, sure="101", **right(sprint))
    assert answer.status_code == 422 and "how sure you are" in answer.content.decode()
    assert not last(sprint).is_answered


def test_a_nul_and_a_long_field_are_no_error_of_ours(ada):
    sprint = ada.start("concept")
    put(sprint, "concept:a-bug-or-physics")
    answer = ada.answer(sprint, **{"choice": ["a", "\x00", "x" * 5000], "junk\x00": "\x00"})
    assert answer.status_code == 200
    assert last(sprint).is_answered


@pytest.mark.parametrize("index", ["", "-1", "99", "abc", "9" * 40])
def test_an_index_that_is_none_changes_nothing(ada, index):
    sprint = ada.start()
    assert ada.send(sprint, "answer", index=index, typed="3 s").status_code == 200
    assert ada.send(sprint, "next", index=index).status_code == 200
    assert not last(sprint).is_answered and sprint.questions.count() == 1
