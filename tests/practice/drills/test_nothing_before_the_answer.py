"""Before an answer a page is the same whatever is right: nothing of the answer is in it."""

from __future__ import annotations

import dataclasses
import re

import pytest

from practice.drills import items
from practice.models import Question
from tests.practice.conftest import without_tokens
from tests.practice.drills.conftest import last


def _page(driller, sprint) -> str:
    return re.sub(r'data-ticks="\d+"|>\d\d:\d\d<', "", without_tokens(driller.page(sprint)))


@pytest.mark.parametrize("id", sorted(items.every()))
def test_the_page_of_a_question_is_the_same_under_another_answer(plain_ada, monkeypatch, later, id):
    sprint = plain_ada.start()
    found = items.pose(id, 5)
    Question.objects.filter(pk=last(sprint).pk).update(item=id, seed=5, fingerprint=found.fingerprint)
    before = _page(plain_ada, sprint)
    monkeypatch.setattr(items, "pose", lambda *_: _with_another_answer(found))
    assert _page(plain_ada, sprint) == before


def _with_another_answer(found: items.Posed) -> items.Posed:
    """The same question, and everything that is right about it turned round."""
    if found.drill:
        other = dataclasses.replace(
            found.drill,
            answer=found.drill.answer * 3,
            steps=("another derivation",),
            slips=(),
            tolerance=0.5,
            formula="f",
            source="s",
            args={},
        )
        return dataclasses.replace(found, drill=other)
    concept = found.concept
    said = {"explanation": "another", "lab": None, "source": concept.source.model_copy(update={"title": "another"})}
    if concept.number:
        said["number"] = concept.number.model_copy(update={"value": "3", "slips": ()})
    said["choice"] = tuple(o.model_copy(update={"right": not o.right, "why": "another"}) for o in concept.choice)
    said["order"] = tuple(o.model_copy(update={"why": "another"}) for o in concept.order)
    said["match"] = tuple(o.model_copy(update={"why": "another"}) for o in concept.match)
    return dataclasses.replace(found, concept=concept.model_copy(update=said))


def test_the_comparison_would_see_a_leak(plain_ada, monkeypatch, later):
    sprint = plain_ada.start()
    before = _page(plain_ada, sprint)
    question = last(sprint)
    found = items.pose(question.item, question.seed)
    told = dataclasses.replace(found, drill=dataclasses.replace(found.drill, text=f"{found.drill.answer_text}?"))
    monkeypatch.setattr(items, "pose", lambda *_: told)
    assert _page(plain_ada, sprint) != before
