"""An attempt is answered as it was. Where that changed on purpose: `python -m tests.grader.kept`, and read the diff."""

from __future__ import annotations

import re

import pytest

from grader.criteria import CRITERIA
from tests.grader import kept


@pytest.mark.parametrize("name", kept.attempts())
def test_an_attempt_is_answered_as_it_was(name):
    assert list(kept.differences(kept.answered(name), kept.kept()[name])) == []


def test_nothing_is_kept_that_is_not_played():
    assert list(kept.kept()) == list(kept.attempts())


def sentences():
    """(criterion, name, template) of each sentence that a criterion may say."""
    for criterion in CRITERIA.values():
        words = criterion.settings().words
        yield from ((criterion.id, name, getattr(words, name)) for name in type(words).model_fields)


@pytest.mark.parametrize(("criterion", "name", "template"), [*sentences()], ids=lambda one: str(one)[:24])
def test_every_sentence_is_said_to_some_attempt(criterion, name, template):
    """Letters between placeholders; a sentence may begin with a capital, and a part of one stands inside another."""
    pattern = re.compile(".*".join(re.escape(part) for part in re.split(r"\{[^}]*\}", template)), re.IGNORECASE)
    marks = [card["criteria"].get(criterion) for card in kept.kept().values() if "criteria" in card]
    said = [
        mark if isinstance(mark, str) else mark["why"] if isinstance(mark, dict) else mark[2] for mark in marks if mark
    ]
    assert any(pattern.search(one) for one in said)


def test_a_change_of_a_number_or_a_word_would_be_seen():
    was = {"total": 0.5, "why": "You checked.", "events": [1, 2]}
    assert not list(kept.differences({**was, "total": 0.50005}, was))
    assert list(kept.differences({**was, "total": 0.501}, was)) == [".total: 0.501, was 0.5"]
    assert list(kept.differences({**was, "why": "you checked."}, was))
    assert list(kept.differences({**was, "events": [1]}, was)) == [".events: [1], was [1, 2]"]
