"""The page says what is kept, and no argument outlives its mutant."""

from __future__ import annotations

import pytest

from tests.mutants.kept import FOLDER, Results, Tally
from tests.mutants.page import page

# Below it a change to the grader has left its tests behind: `make mutants` says where.
LEAST_KILLED = 0.85


@pytest.fixture(scope="module")
def results():
    return Results()


def test_the_page_is_what_is_kept(results):
    assert (FOLDER.parent / "mutants.md").read_text() == page(results)


def test_at_least_what_was_agreed_on_is_killed(results):
    whole = sum((results.tally(file) for file in results.files), Tally())
    assert whole.mutants > 3000
    assert whole.killed_share >= LEAST_KILLED


def test_every_argument_is_of_a_mutant_that_lives(results):
    living = {(one.file, one.function, one.change) for file in results.files for one in results.survivors(file)}
    argued = {
        (file, function, change)
        for file, functions in results.argued.items()
        if file != "everywhere"
        for function, changes in functions.items()
        for change in changes
    }
    assert argued - living == set()


def test_a_survivor_is_open_until_it_is_argued(tmp_path):
    (tmp_path / "results.json").write_text(
        '{"grader/a.py": {"f": {"digest": "d", "mutants": 4, "texts": 1, '
        '"survived": {"2": "a < b → a <= b", "3": "text: x → XxX"}}}}'
    )
    (tmp_path / "argued.json").write_text('{"grader/a.py": {"f": {"a < b → a <= b": "a never equals b"}}}')
    results = Results(tmp_path)
    assert results.tally("grader/a.py") == Tally(mutants=4, texts=1, survived=2, texts_survived=1, argued=1)
    said = page(results)
    assert "**2 of 4 killed (50.0%)**; 2 survived, of which 1 are argued and 1 open." in said
    assert "- ``a < b → a <= b``: a never equals b" in said
    assert "## Open, of text\n\n`grader/a.py`, `f`\n\n- ``x → XxX``" in said
