"""What a whole attempt of each kind scores, and why: files that an author can read, held to a band and to sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.transcript import parse_transcript
from scenarios import library
from tests.grader import goldens
from tests.grader.goldens import MEANS, WIDEST, Golden, card, index_of, read

EVERY = goldens.every()
FOLDERS = goldens.folders()
PAGE = (Path(__file__).parents[2] / "docs" / "transcript.md").read_text()
# A fence that names its file, and what the page says of it up to the next heading.
WORKED = re.findall(r"```json (\S+)\n(.*?)```\n(.*?)(?=\n#)", PAGE, flags=re.DOTALL)
each = pytest.mark.parametrize("golden", EVERY, ids=lambda golden: golden.name)
each_set = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
worked = pytest.mark.parametrize(("name", "events", "said"), WORKED, ids=[name for name, *_ in WORKED])


def entry(golden: Golden) -> goldens.Entry:
    return index_of(golden.path.parent)[golden.kind]


def of_kind(folder, kind) -> Golden:
    return Golden(folder / f"{kind}.json")


@pytest.mark.parametrize("scenario", library.shipped(), ids=lambda one: f"{one.key}@{one.revision}")
def test_each_offered_scenario_has_a_transcript_of_each_kind(scenario):
    folder = goldens.folder_of(scenario)
    lacking = [f"{kind}.json" for kind in MEANS if not of_kind(folder, kind).path.is_file()]
    assert not lacking, f"{folder} lacks {', '.join(lacking)}; docs/transcript.md says what each holds"


@each_set
def test_the_index_and_the_transcripts_name_the_same_kinds(folder):
    assert {path.stem for path in folder.glob("*.json")} == set(index_of(folder)) == set(MEANS)


@each
def test_a_transcript_is_of_the_revision_that_its_folder_names(golden):
    said = read(golden)
    assert f"{said['scenario']}@{said['revision']}" == golden.of
    assert library.named(golden.of).track == golden.path.parents[2].name


@each
def test_a_transcript_is_a_whole_attempt_with_notes(golden):
    events = parse_transcript(read(golden)).events
    assert events[-1].kind == "close"
    assert {"note", "step", "diagnose", "fix"} <= {event.kind for event in events}
    assert [event.at_s for event in events] == sorted(event.at_s for event in events)


@each
def test_a_finding_is_written_only_where_another_one_is_likely(golden):
    """The rest shows what is likely under the named cause, also after the next calibration."""
    made = read(golden)
    bare = [{name: value for name, value in event.items() if name != "finding"} for event in made["events"]]
    likely = {step.event: step.finding for step in goldens.graded({**made, "events": bare}, golden).steps}
    written = {n: event["finding"] for n, event in enumerate(made["events"]) if n in likely and "finding" in event}
    assert not {n: finding for n, finding in written.items() if finding == likely[n]}


@each
def test_it_scores_within_its_band_and_with_its_labels(golden):
    expect, found = entry(golden).expect, card(golden)
    marks = {name: round(mark.score, 2) for name, mark in found.criteria.items() if mark.applicable}
    assert expect.at_least <= found.total <= expect.at_most, marks
    assert found.labels == expect.labels


@each
def test_its_band_is_narrow_and_within_what_its_kind_means(golden):
    expect = entry(golden).expect
    least, most, labels = MEANS[golden.kind]
    assert least <= expect.at_least <= expect.at_most <= most
    assert expect.at_most - expect.at_least <= WIDEST
    assert set(expect.labels) <= labels


@each
def test_its_sentences_name_the_events_and_the_reasons_that_they_should(golden):
    for criterion, said in entry(golden).says.items():
        mark = card(golden).criteria[criterion]
        assert mark.events == said.events, criterion
        assert said.words in mark.why, criterion


@each_set
def test_a_lucky_answer_is_held_by_its_cap_and_not_merely_low(folder):
    found = card(of_kind(folder, "lucky"))
    assert found.labels == ("lucky",)
    assert found.diagnosis is not None and found.diagnosis.right
    assert found.cap == found.total < found.before_hints


@each_set
def test_the_kinds_rank_as_an_interviewer_ranks_them(folder):
    totals = [card(of_kind(folder, kind)).total for kind in ("best", "good", "box-ticking", "poor")]
    assert totals == sorted(totals, reverse=True)
    assert card(of_kind(folder, "lucky")).total < totals[1]


@each_set
def test_the_kinds_are_played_under_different_causes(folder):
    causes = [cause for kind in MEANS for cause in read(of_kind(folder, kind))["causes"]]
    assert len(set(causes)) >= min(len(MEANS), len(library.named(folder.name).causes))


def test_the_page_has_two_worked_examples():
    assert len(WORKED) == 2


@worked
def test_a_worked_example_on_the_page_is_an_excerpt_of_its_file_in_order(name, events, said):
    lines = [line.strip() for line in (library.FOLDER / name).read_text().splitlines()]
    places = [lines.index(line.strip()) for line in events.splitlines()]
    assert places == sorted(places) and places


@worked
def test_a_worked_example_on_the_page_says_what_the_scorecard_says(name, events, said):
    found = card(Golden(library.FOLDER / name))
    assert f"scores {100 * found.total:.0f} of 100" in said
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+|–) \| (.+) \|$", said, flags=re.MULTILINE)
    marks = {mark.title: mark for mark in found.criteria.values()}
    assert len(rows) >= 4
    for title, shown, why in rows:
        assert why == marks[title].why
        assert shown == (f"{marks[title].score:.2f}" if marks[title].applicable else "–"), title
