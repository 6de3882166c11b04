"""A few of the fuzzer's transcripts in every run; `python -m tests.grader.fuzz 100000 SEED` for many."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.grader import fuzz
from tests.grader.played import SOUND, transcript
from tests.grader.scoring import grade


def test_mutated_transcripts_are_scored_or_refused_by_name():
    outcomes = Counter(outcome for _, outcome in fuzz.cases(400, 37))
    assert outcomes["scored"] > 200 and outcomes["refused"] > 50


def test_a_case_is_given_again_by_its_number_and_seed():
    assert list(fuzz.cases(30, 5)) == list(fuzz.cases(30, 5))


@pytest.mark.parametrize("neutral", fuzz.NEUTRAL, ids=lambda one: one.event["kind"])
def test_a_neutral_event_moves_a_sound_search_by_what_is_stated(neutral, knowledge):
    made = transcript(SOUND)
    before = grade(made, knowledge).total
    for place in range(len(SOUND)):
        after = grade(fuzz.with_one_more(made, neutral.event, place), knowledge).total
        assert before - after == pytest.approx(neutral.most)


def test_the_fuzzer_notices_a_score_that_is_out_of_bounds(monkeypatch):
    real = fuzz.grade

    def one_too_many(*arguments):
        card = real(*arguments)
        return card.model_copy(update={"total": card.total + 1})

    monkeypatch.setattr(fuzz, "grade", one_too_many)
    with pytest.raises(fuzz.Broken, match=r"case 0 of seed 37: Broken: out of bounds"):
        list(fuzz.cases(1, 37))


def test_the_fuzzer_notices_an_event_that_moves_the_total(monkeypatch):
    """Were a note to cost what a hint does."""
    monkeypatch.setattr(fuzz, "NEUTRAL", (fuzz.Neutral({"kind": "hint", "level": 3}, 0.0),))
    world = fuzz.worlds()[0]
    with pytest.raises(fuzz.Broken, match="moved"):
        fuzz.check(transcript(SOUND), world, random.Random(1))


def test_bad_arguments_are_misuse(capsys):
    assert fuzz.main(["many"]) == 2
    assert "two whole numbers" in capsys.readouterr().out
