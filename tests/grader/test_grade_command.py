"""`manage.py grade`: one line for what is wrong, everything for what is right."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.grader.scoring import STANDARD
from tests.grader.test_documents import EXAMPLES


def run(*args):
    out = StringIO()
    call_command("grade", *args, stdout=out)
    return out.getvalue()


@pytest.fixture
def written(tmp_path):
    def write(value, name="attempt.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
        return str(path)

    return write


def test_a_transcript_is_scored_as_json(written):
    body = json.loads(run(written(EXAMPLES[0]), "--json"))
    assert set(body) >= {"total", "criteria", "labels", "posterior", "steps", "dimensions", "level"}
    assert 0 <= body["total"] <= 1
    assert body["level"] is None


def test_a_transcript_is_scored_in_lines(written):
    text = run(written(EXAMPLES[1]))
    assert "/100  (lucky)" in text
    assert "Floor first" in text


def test_several_are_a_list(written):
    cards = json.loads(run(written(EXAMPLES[0], "a.json"), written(EXAMPLES[1], "b.json"), "--json"))
    assert [card["file"][-6:] for card in cards] == ["a.json", "b.json"]


def test_a_comparison_says_by_how_much_and_because_of_which_criterion(written):
    flat = written({"name": "search-only", "weights": {"split": 0.5, "bisect": 0.5}}, "rubric.json")
    sound, lucky = written(EXAMPLES[0], "sound.json"), written(EXAMPLES[1], "lucky.json")
    rows = json.loads(run(sound, lucky, "--compare", "standard", flat, "--json"))
    for row in rows:
        by = row["search-only"]["total"] - row["standard"]["total"]
        assert row["change"]["total"] == pytest.approx(by)
        assert sum(row["change"]["because"].values()) == pytest.approx(by, abs=0.01)
    assert rows[0]["change"]["because"]["split"] > 0 > rows[0]["change"]["because"]["quantify"]


def test_a_comparison_names_who_changes_the_most_first_and_counts_the_rest(written):
    flat = written({"name": "search-only", "weights": {"split": 0.5, "bisect": 0.5}}, "rubric.json")
    empty = written({"scenario": "slow-all-reduce", "revision": 1, "events": []}, "empty.json")
    text = run(written(EXAMPLES[1], "lucky.json"), empty, "--compare", "standard", flat).splitlines()
    assert text[0].startswith("points by standard and by search-only")
    assert "lucky.json" in text[1] and "Repair, verified -" in text[1]
    assert text[-1] == "1 of 2 unchanged"


def test_two_revisions_of_a_rubric_are_told_apart(written):
    newer = written({"name": "standard", "revision": 9, "weights": {"split": 1.0}}, "standard.json")
    row = json.loads(run(written(EXAMPLES[0]), "--compare", "standard", newer, "--json"))[0]
    assert {STANDARD.label, "standard@9"} < set(row)


def test_the_rubric_that_scored_is_named(written):
    assert f"by {STANDARD.label}" in run(written(EXAMPLES[0]))


def test_events_of_a_newer_version_are_named_and_ignored(written):
    newer = {**EXAMPLES[0], "events": [*EXAMPLES[0]["events"], {"at_s": 999, "kind": "applause", "loud": True}]}
    number = len(EXAMPLES[0]["events"])
    assert f"event {number} (applause) is of a kind that is not known here" in run(written(newer))


def test_the_schema_is_printed():
    assert json.loads(run("--schema"))["title"] == "Rank 37 transcript"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"scenario": "slow-all-reduce",\n "events": [}', r"attempt.json:2: not JSON"),
        ('{"scenario": "slow-all-reduce",\n "events": [\n{"at_s": 1, "kind": "close"},\n{"at_s": 2, "kind": "step"}]}',
         r"attempt.json:4: event 1 \(step\): field step: is missing"),
        ('{"scenario": "slow-all-reduce", "events": [\n{"at_s": 1, "kind": "step", "step": "link-rate"}]}',
         r"attempt.json:2: event 0 \(step\): field step: .*did you mean .link-rates"),
        ('{"scenario": "slow-all-rduce", "events": []}', r"attempt.json: .*did you mean .slow-all-reduce"),
        ('{"events": []}', r"attempt.json: transcript: field scenario: is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_with_file_and_line(text, says, written):
    with pytest.raises(CommandError, match=says) as refused:
        run(written(text))
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)


def test_an_unusable_rubric_is_refused(written):
    lopsided = written({"name": "x", "weights": {"split": 0.5}}, "rubric.json")
    with pytest.raises(CommandError, match=r"^rubric.json:3: weights: they sum to 0.5, and must sum to 1$"):
        run(written(EXAMPLES[0]), "--compare", "standard", lopsided)


def test_no_file_is_misuse():
    with pytest.raises(CommandError, match="name at least one"):
        run()
