"""Design questions: every file holds, its figures are the napkin's, and a broken one says where."""

from __future__ import annotations

import pytest

from scenarios import design_questions
from scenarios.design_format import MOVES
from scenarios.errors import ScenarioError
from scenarios.told import problems_of

FILES = sorted(design_questions.FOLDER.glob("*.yaml"))
GOOD = FILES[0].read_text()


def test_every_file_is_offered():
    assert len(design_questions.every()) == len(FILES) >= 4
    assert [problems_of(file) for file in FILES] == [[]] * len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_question_asks_all_five_moves_and_says_figures(file):
    question = design_questions.load(file)
    assert tuple(question.moves) == MOVES
    assert len(question.points()) >= 15
    figures = [figure for point in question.points().values() for figure in point.figures]
    assert len(figures) >= 3 and all(figure.command.startswith("napkin ") for figure in figures)
    asked = " ".join((question.question, *(move.ask for move in question.moves.values())))
    assert not [figure.says for figure in figures if figure.says in asked]


def broken(tmp_path, old: str, new: str) -> str:
    assert old in GOOD
    folder = tmp_path / "design"
    folder.mkdir()
    file = folder / "broken.yaml"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ScenarioError) as refused:
        design_questions.load(file)
    assert problems_of(file)
    return str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("says: 584 GB", "says: 600 GB", '"600 GB" is not what the napkin gives: 584 GB'),
        ("says: 584 GB", "says: 584 s", '"584 s"'),
        ("napkin: activation-memory", "napkin: activation-memori", 'did you mean "activation-memory"?'),
        ("with: batch=1 seq", "with: bach=1 seq", 'did you mean "batch"?'),
        ("result: bytes_per_rank", "result: bytes", "is no result of activation-memory"),
        ("584 GB for one", "a lot for one", 'the text does not say "584 GB"'),
        ("  bottleneck:", "  botleneck:", "bottleneck"),
        ("title: Sequences", "titel: Sequences", 'field "title" is missing'),
    ],
)
def test_a_broken_file_says_what_is_wrong_and_where(tmp_path, old, new, said):
    message = broken(tmp_path, old, new)
    assert said in message and message.startswith("broken.yaml:")


def test_a_move_that_is_left_out_is_named(tmp_path):
    start, end = GOOD.index("  correctness:"), GOOD.index("source:")
    assert "lacks correctness" in broken(tmp_path, GOOD[start:end], "")


def test_the_fingerprint_changes_with_what_is_read_and_marked():
    question = design_questions.load(FILES[0])
    first = design_questions.fingerprint(question)
    assert first != design_questions.fingerprint(question.model_copy(update={"question": "another"}))
    source = question.source.model_copy(update={"title": "another"})
    assert first == design_questions.fingerprint(question.model_copy(update={"source": source}))
