"""One list of causes: every fault of the lab is in it, nothing twice, and typing finds what one looks for."""

from __future__ import annotations

import pytest

from gpu_worker.faults import FAULTS
from scenarios.cause_search import find, words
from scenarios.causes import CAUSES, load
from scenarios.errors import ScenarioErrors


def test_every_fault_of_the_lab_is_a_cause_and_every_other_cause_says_that_it_is_none():
    assert {id for id, cause in CAUSES.items() if not cause.named_only} == set(FAULTS)


def test_there_are_sixty_causes_of_every_family():
    assert len(CAUSES) >= 60
    assert {cause.family for cause in CAUSES.values()} == {"host", "fabric", "job", "input", "checkpoint", "comparison"}


@pytest.mark.parametrize("field", ["id", "title", "description", "on_lab", "on_nccl"])
def test_no_two_causes_are_told_alike(field):
    told = [" ".join(words(getattr(cause, field))) for cause in CAUSES.values()]
    # What is the same there is said so: "The same." begins some of the notes.
    repeated = {text for text in told if told.count(text) > 1 and text != "the same"}
    assert repeated == set()


def test_a_place_is_of_the_kind_that_the_fault_takes():
    for id, fault in FAULTS.items():
        assert CAUSES[id].place_kind == fault.place_kind, id


@pytest.mark.parametrize("cause", CAUSES.values(), ids=lambda cause: cause.id)
def test_a_cause_is_found_first_by_its_id_and_by_its_title(cause):
    assert find(cause.id)[0] == cause
    assert find(cause.title)[0] == cause


@pytest.mark.parametrize("cause", CAUSES.values(), ids=lambda cause: cause.id)
def test_a_cause_is_found_by_every_other_name_it_has(cause):
    assert cause.also, "name at least one other word for it"
    for other in cause.also:
        assert cause in find(other, limit=12), other


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("therm", "throttled-rank"),
        ("ECC", "stuttering-rank"),
        ("gpu slow", "throttled-rank"),
        ("cable", "degraded-link"),
        ("retransmits", "lossy-link"),
        ("ecmp", "path-collision"),
        ("physics", "comparison-changed"),
        ("overlap", "no-overlap"),
        ("warm-up", "scheduler-not-saved"),
        ("barrier", "one-collective-too-many"),
        ("numa", "numa-misplacement"),
        ("the nccl version", "algorithm-changed"),
    ],
)
def test_what_people_type_finds_it_among_the_first_three(typed, wanted):
    assert wanted in [cause.id for cause in find(typed)[:3]]


@pytest.mark.parametrize("typed", ["", "   ", "?!", "zebra", "link zebra"])
def test_what_matches_no_cause_finds_none(typed):
    assert find(typed) == []


def test_a_longer_query_never_finds_more():
    for typed in ("l", "li", "lin", "link", "link l", "link lo"):
        assert set(find(typed, limit=99)) >= set(find(f"{typed}o" if typed[-1] != "o" else f"{typed}s", limit=99))


def test_a_list_with_an_unknown_field_is_refused_with_its_line(tmp_path):
    file = tmp_path / "causes.yaml"
    file.write_text("dead-rank:\n  family: host\n  places: rank\n")
    with pytest.raises(ScenarioErrors) as caught:
        load(file)
    assert 'causes.yaml:3: field "places" is unknown; did you mean "place"?' in map(str, caught.value.errors)
