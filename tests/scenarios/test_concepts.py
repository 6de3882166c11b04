"""Concept exercises: every file holds, a broken one says where, and each kind of answer is judged line by line."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from string import ascii_lowercase
from typing import get_args

import pytest

from grader.units import QuantityError
from scenarios import concepts
from scenarios.concept_format import KINDS, Concept, Trains
from scenarios.concept_judging import NotAnAnswer, ask, judge_concept, shuffled
from scenarios.errors import ScenarioError
from scenarios.told import problems_of

FILES = sorted(concepts.FOLDER.glob("*.yaml"))
SEEDS = range(12)


def right_answer(concept: Concept, seed: int) -> dict[str, list[str]]:
    """The form that is right, through the letters of this seed."""
    if concept.number:
        return {"typed": [concept.number.value]}
    order = shuffled(concept, seed)
    letter = {at: ascii_lowercase[place] for place, at in enumerate(order)}
    if concept.choice:
        return {"choice": [letter[at] for at, option in enumerate(concept.choice) if option.right]}
    if concept.order:
        return {f"place-{letter[at]}": [str(at + 1)] for at in range(len(concept.order))}
    return {f"match-{ascii_lowercase[at]}": [letter[at]] for at in range(len(concept.match))}


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def concept(request) -> Concept:
    return concepts.load(request.param)


def test_there_are_enough_of_each_kind_and_for_each_step():
    every = concepts.every().values()
    assert len(every) == len(FILES) >= 24
    assert set(Counter(one.kind for one in every)) == set(KINDS)
    assert set(Counter(one.trains for one in every)) == set(get_args(Trains))
    assert sum(one.lab is not None for one in every) >= 24


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_answer_is_right_however_it_is_shuffled(concept: Concept, seed: int):
    judged = judge_concept(concept, seed, right_answer(concept, seed))
    assert judged.verdict == "right" and judged.share == 1
    assert all(line.right and line.why for line in judged.lines)


def test_what_is_asked_holds_neither_what_is_right_nor_why(concept: Concept):
    shown = repr(ask(concept, 3))
    assert concept.explanation[:40] not in shown
    reasons = [one.why for one in (*concept.choice, *concept.order, *concept.match)]
    assert not [why for why in reasons if why in shown]
    assert "right" not in vars(ask(concept, 3))


def test_letters_say_nothing_of_the_answer(concept: Concept):
    """Over seeds every option stands in every place, so that neither letter nor place can be learnt."""
    if concept.number:
        return
    number = len(shuffled(concept, 0))
    seen = {(place, at) for seed in range(200) for place, at in enumerate(shuffled(concept, seed))}
    assert len(seen) == number * number


def test_an_order_is_never_shown_as_it_is_right():
    for one in concepts.every().values():
        if one.order:
            assert all(shuffled(one, seed) != list(range(len(one.order))) for seed in range(300))


def _of_kind(kind: str) -> Concept:
    return next(one for one in concepts.every().values() if one.kind == kind)


def test_a_tick_too_many_and_one_too_few_are_told_apart_from_the_rest():
    concept = _of_kind("choice")
    given = right_answer(concept, 1)
    wrong = next(c for c in ascii_lowercase[: len(concept.choice)] if c not in given["choice"])
    judged = judge_concept(concept, 1, {"choice": [wrong, *given["choice"][1:]]})
    assert judged.verdict == "wrong"
    assert [line.right for line in judged.lines].count(False) == 2
    assert judged.share == pytest.approx(1 - 2 / len(concept.choice))


def test_nothing_ticked_is_no_answer():
    with pytest.raises(NotAnAnswer, match="Tick at least one"):
        judge_concept(_of_kind("choice"), 1, {"choice": ["z"]})


def test_only_one_order_is_right():
    concept = next(one for one in concepts.every().values() if len(one.order) == 4)
    letters = ascii_lowercase[:4]
    verdicts = Counter(
        judge_concept(
            concept, 2, {f"place-{letter}": [str(p)] for letter, p in zip(letters, places, strict=True)}
        ).verdict
        for places in permutations(range(1, 5))
    )
    assert verdicts == {"right": 1, "wrong": 23}


def test_a_place_that_is_missing_or_given_twice_is_told_beside_it():
    concept = _of_kind("order")
    given = right_answer(concept, 1)
    first, second, *_ = sorted(given)
    with pytest.raises(NotAnAnswer) as refused:
        judge_concept(concept, 1, given | {first: [""], second: ["99"]})
    assert set(refused.value.fields) == {first, second}
    with pytest.raises(NotAnAnswer, match="is taken"):
        judge_concept(concept, 1, given | {second: given[first]})


def test_a_side_without_a_partner_is_told_beside_it():
    concept = _of_kind("match")
    given = right_answer(concept, 1)
    with pytest.raises(NotAnAnswer) as refused:
        judge_concept(concept, 1, given | {"match-a": ["%"]})
    assert list(refused.value.fields) == ["match-a"]
    judged = judge_concept(concept, 1, given | {"match-a": given["match-b"], "match-b": given["match-a"]})
    assert [line.right for line in judged.lines][:2] == [False, False] and judged.lines[2].right


def test_a_number_is_judged_as_in_a_drill():
    concept = concepts.get("strong-or-weak")
    assert concept is not None
    assert judge_concept(concept, 0, {"typed": ["0.75"]}).verdict == "right"
    slipped = judge_concept(concept, 0, {"typed": ["9.4 %"]})
    assert slipped.verdict == "slip" and slipped.slip and slipped.slip.name == "Strong for weak"
    with pytest.raises(QuantityError):
        judge_concept(concept, 0, {"typed": ["fast"]})


GOOD = """title: T
track: stragglers
trains: split
question: Q?
choice:
  - text: a
    right: true
    why: yes it is
  - text: b
    why: it is not
  - text: c
    why: nor this
explanation: E
source: {title: S}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("trains: split", "trains: splitt", 3, "it must be"),
        ("    why: nor this", "    why: nor this\n    wy: x", 13, 'field "wy" is unknown; did you mean "why"?'),
        ("    why: it is not\n", "", 9, 'field "why" is missing'),
        ("    right: true\n", "", 1, "at least one option has to be right"),
        ("  - text: c\n    why: nor this\n", "", 1, "three are the least"),
        ("text: b", "text: a", 1, "stands there twice"),
        ("explanation: E", "number: {value: 5 GB, kind: time}\nexplanation: E", 13, '"5 GB" is not of kind time'),
        ("explanation: E", "number: {value: 5 s, kind: time}\nexplanation: E", 1, "exactly one of"),
        ("source: {title: S}", "source: {title: S}\nlab: {step: link-rate, cause: no-overlap}", 15, "link-rates"),
        (
            "source: {title: S}",
            "source: {title: S}\nlab: {step: link-rates, cause: no-overlap}",
            15,
            "is no variant of link-rates",
        ),
        (
            "source: {title: S}",
            "source: {title: S}\nlab: {step: stack-dump, cause: gremlins}",
            15,
            "cannot be injected",
        ),
        ("title: T", "key: other\ntitle: T", 1, "leave it out"),
    ],
)
def test_a_broken_file_is_told_by_line_and_repair(tmp_path: Path, old: str, new: str, line: int, said: str):
    file = tmp_path / "broken.yaml"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(ScenarioError) as refused:
        concepts.load(file)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"broken.yaml:{line}:")


def test_the_command_checks_an_exercise_as_it_checks_an_incident(tmp_path: Path):
    folder = tmp_path / "concepts"
    folder.mkdir()
    (folder / "one.yaml").write_text(GOOD.replace("trains: split", "trains: splitt"))
    (folder / "two.yaml").write_text(GOOD)
    assert problems_of(folder / "one.yaml")[0].startswith("one.yaml:3: trains is 'splitt'; it must be")
    assert problems_of(folder / "two.yaml") == []


def test_the_whole_file_is_good(tmp_path: Path):
    file = tmp_path / "good.yaml"
    file.write_text(GOOD)
    assert concepts.load(file).key == "good"
