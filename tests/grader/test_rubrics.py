"""A rubric is a small file: weights, thresholds and words, checked, one in force a track."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

import grader
from grader.criteria import CRITERIA
from grader.criteria.base import Words
from grader.rubric import Rubric
from scenarios import library, rubrics
from scenarios.errors import ScenarioError
from scenarios.format import Track
from tests.grader.played import FIX, FLOOR, RATES, SOUND, SPLIT, swapped, transcript, without
from tests.grader.scoring import STANDARD, grade

FROM_THE_DESIGN = {"quantify": 0.22, "split": 0.10, "bisect": 0.10, "rule-outs": 0.20, "efficiency": 0.10,
                   "confirm": 0.04, "diagnosis": 0.08, "repair": 0.10, "prevention": 0.06}  # fmt: skip


def written(tmp_path, text: str, name: str = "mine.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("track", get_args(Track))
def test_every_track_is_scored_by_exactly_one_rubric(track):
    assert [name for name in rubrics.names() if track in rubrics.get(name).tracks] == [rubrics.for_track(track).name]


@pytest.mark.parametrize("name", rubrics.names())
def test_every_rubric_of_the_folder_is_sound(name):
    rubric = rubrics.get(name)
    assert rubric.name == name
    assert sum(rubric.weights.values()) == pytest.approx(1)


def test_weights_keep_near_those_agreed_on():
    assert {name: pytest.approx(weight, abs=0.0501) for name, weight in FROM_THE_DESIGN.items()} == STANDARD.weights


@pytest.mark.parametrize("track", get_args(Track))
def test_a_rubric_in_force_states_every_threshold_of_what_it_weighs(track):
    """Else a changed default would change scores under the same revision."""
    rubric = rubrics.for_track(track)
    for name in rubric.weights:
        settings = rubric.settings[name]
        numbers = {f for f in type(settings).model_fields if f not in ("title", "words")}
        stated = getattr(rubric.criteria, name.replace("-", "_")).model_fields_set
        assert numbers <= stated, name


def test_every_criterion_is_weighed_by_some_rubric_and_found_by_looking():
    weighed = {name for rubric in rubrics.names() for name in rubrics.get(rubric).weights}
    assert weighed == set(CRITERIA)
    assert len(CRITERIA) >= 12


def test_every_criterion_has_words_of_its_own_and_says_what_would_be_better():
    for criterion in CRITERIA.values():
        settings = criterion.settings()
        assert settings.title and criterion.better.endswith(".")
        assert isinstance(settings.words, Words)


BROKEN = [
    ("weights: {split: 0.5}", 2, "they sum to 0.5, and must sum to 1"),
    ("weights: {splits: 1.0}", 2, '"splits" is no criterion; they are arithmetic, audit'),
    ("weights: {split: 1.0}\ncriteria:\n  split: {later: 4}", 4, "less than or equal to 1"),
    ("weights: {split: 1.0}\ncriteria:\n  split: {latter: 0.4}", 4, 'field "latter" is unknown; did you mean "later"?'),
    ("weights: {split: 1.0}\ncriteria:\n  split:\n    words: {late: 'at {tme}'}", 5, '"{tme}" is unknown'),
    ("weights: {split: 1.0}\ncriteria:\n  split:\n    words: {late: '{step.__class__}'}", 5, "is unknown"),
    ("weights: {split: 1.0}\ncriteria:\n  split:\n    words: {late: '{step:>99999999}'}", 5, "is unknown"),
    ("weights: {split: 1.0}\ncriteria:\n  split:\n    words: {late: 'at {clock'}", 5, "is no template"),
    ("weights: {split: 1.0}\nhint_costs: {1: 0.1}", 3, "hints have levels 1, 2 and 3"),
    ("weights: {split: 1.0}\ndimensions: {correctness: {luck: 1.0}}", 1, '"luck" is no criterion'),
    ("weights: {split: 1.0}\nreveision: 2", 3, 'field "reveision" is unknown; did you mean "revision"?'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "says"), BROKEN, ids=[says[:20] for *_, says in BROKEN])
def test_what_is_wrong_in_a_rubric_is_named_with_its_line(text, line, says, tmp_path):
    path = written(tmp_path, f"name: mine\n{text}\n")
    with pytest.raises(ScenarioError) as refused:
        rubrics.load(path)
    assert says in str(refused.value)
    assert abs((refused.value.line or 0) - line) <= 1, str(refused.value)


def test_a_threshold_of_a_rubric_is_the_one_that_scores(knowledge):
    strict = Rubric(name="strict", weights={"split": 1.0}, criteria={"split": {"later": 0.1}})
    late = transcript([FLOOR, RATES, SPLIT])
    assert grade(late, knowledge, strict).criteria["split"].score == 0.1
    assert grade(late, knowledge).criteria["split"].score == 0.4


def test_the_words_of_a_rubric_are_those_that_are_said(knowledge):
    own = {"split": {"title": "Who waits", "words": {"first": "{step}, first of all."}}}
    mark = grade(transcript(SOUND), knowledge, Rubric(name="own", weights={"split": 1.0}, criteria=own)).criteria[
        "split"
    ]
    assert (mark.title, mark.why) == ("Who waits", "Per rank step times, first of all.")


def test_only_what_a_rubric_weighs_is_judged(knowledge):
    card = grade(transcript(SOUND), knowledge, Rubric(name="x", weights={"split": 0.5, "repair": 0.5, "bisect": 0.0}))
    assert set(card.criteria) == {"split", "repair"}


def test_a_step_is_exempt_from_efficiency_only_by_a_criterion_that_the_rubric_weighs(knowledge):
    """The same dear search: with `bisect` weighed its microbenchmark is free."""
    dear = swapped(RATES, RATES, RATES)
    without_it = Rubric(name="x", weights={"efficiency": 1.0})
    with_it = Rubric(name="x", weights={"efficiency": 0.5, "bisect": 0.5})
    alone, beside = (grade(transcript(dear), knowledge, r).criteria["efficiency"].score for r in (without_it, with_it))
    assert alone < beside


def test_a_scorecard_names_its_rubric_and_the_revision(knowledge):
    card = grade(transcript(SOUND), knowledge)
    assert (card.rubric, card.rubric_revision, card.revision) == ("standard", STANDARD.revision, 1)


def test_an_older_revision_is_read_from_its_own_file(tmp_path, monkeypatch):
    text = (rubrics.FOLDER / "standard@1.yaml").read_text()
    (tmp_path / "standard.yaml").write_text(text.replace("revision: 1\n", "revision: 2\n"))
    (tmp_path / "standard@1.yaml").write_text(text)
    monkeypatch.setattr(rubrics, "FOLDER", tmp_path)
    assert rubrics.get("standard").revision == 2
    assert rubrics.named("standard@1").revision == 1
    with pytest.raises(ScenarioError, match="revision 9 is not kept"):
        rubrics.named("standard@9")


def test_a_rubric_in_the_folder_is_called_as_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(rubrics, "FOLDER", tmp_path)
    written(tmp_path, "name: other\nweights: {split: 1.0}\n")
    with pytest.raises(ScenarioError, match=r"call the file other\.yaml"):
        rubrics.get("mine")


def test_an_unknown_rubric_gets_the_nearest():
    with pytest.raises(ScenarioError, match='did you mean "standard"'):
        rubrics.named("standrd")


def test_a_rubric_is_json_too(tmp_path):
    path = written(tmp_path, json.dumps({"name": "mine", "weights": {"split": 1.0}}), "mine.json")
    assert rubrics.named(str(path)).weights == {"split": 1.0}


def constants(path: Path) -> set[str]:
    """Every text in a module's code; docstrings are talk, not knowledge."""
    tree = ast.parse(path.read_text())
    talk = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in talk
    }


def named_in_scenarios() -> set[str]:
    """Ids that only scenarios may know: their own, and those of causes, fixes, measures and steps."""
    names: set[str] = set()
    for one in library.every():
        names |= {one.key, *one.steps}
        names |= {part.id for parts in (one.causes, one.fixes, one.measures) for part in parts}
    return names


def test_no_criterion_knows_a_scenario_or_what_is_in_it():
    known = named_in_scenarios()
    assert {"slow-all-reduce", "degraded-link", "replace-link", "microbenchmark"} <= known
    folder = Path(grader.__file__).parent
    files = [
        *(folder / "criteria").glob("*.py"),
        *(folder / f"{n}.py" for n in ("grade", "labels", "timeline", "rubric")),
    ]
    for file in files:
        assert not constants(file) & known, file.name


def test_the_checkpoint_set_audits_recovery_apart_and_replays_to_a_declared_tolerance():
    weights = rubrics.for_track("checkpoints").weights
    assert {"audit", "generation", "replay"} <= set(weights)
    assert not {"split", "bisect", "quantify"} & set(weights)
    assert rubrics.for_track("checkpoints").settings["repair"].model_dump()["floor"] == 0


def test_settings_are_read_by_kind_so_that_a_rubric_without_one_has_its_defaults(knowledge):
    """Rule-outs are listed whatever the rubric weighs."""
    card = grade(transcript(without(FIX)), knowledge, Rubric(name="x", weights={"split": 1.0}))
    assert card.ruled_out and all(isinstance(one, BaseModel) for one in card.ruled_out)
