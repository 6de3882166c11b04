"""The numbers of an incident about saving and resuming: each asked for counts alike, right and early or not."""

from __future__ import annotations

import pytest

from grader.knowledge import AcceptedValue, EstimateKnowledge
from grader.transcript import TranscriptError
from scenarios import library, rubrics
from tests.grader import recovery
from tests.grader.recovery import CHANGES, CONTENTS, DIAGNOSE, SCHEDULE, SOUND
from tests.grader.scoring import grade

RUBRIC = rubrics.for_track("checkpoints")


def accepted(quantity: str, scale: str, kind: str, value: float) -> EstimateKnowledge:
    return EstimateKnowledge(quantity=quantity, scale=scale, kind=kind, accepted=(AcceptedValue(value=value),))


ASKED = (
    accepted("checkpoint-bytes", "production", "data", 980e9),
    accepted("checkpoint-bytes", "lab", "data", 12.2e6),
    accepted("save-interval", "production", "time", 528.0),
)
KNOWN = recovery.knowledge().model_copy(update={"estimates": ASKED})


def said(quantity: str, scale: str, value: str) -> dict[str, str]:
    return {"kind": "estimate", "quantity": quantity, "scale": scale, "value": value}


BYTES = said("checkpoint-bytes", "production", "980 GB")
LAB_BYTES = said("checkpoint-bytes", "lab", "12.2 MB")
INTERVAL = said("save-interval", "production", "8.8 min")


def mark(*events, known=KNOWN):
    return grade(recovery.transcript(list(events)), known, RUBRIC).criteria["arithmetic"]


def test_every_number_right_before_the_first_step_earns_all():
    found = mark(BYTES, INTERVAL, *SOUND)
    assert (found.score, found.events) == (1, (0, 1))
    assert found.why == "Right: 2 of the 2 numbers asked for, before any measurement."


def test_each_quantity_counts_alike_and_either_scale_shows_it():
    assert mark(INTERVAL, *SOUND).score == mark(LAB_BYTES, *SOUND).score == 0.5
    assert mark(LAB_BYTES, INTERVAL, *SOUND).score == mark(BYTES, LAB_BYTES, INTERVAL, *SOUND).score == 1


@pytest.mark.parametrize(
    ("value", "score"),
    # 980 GB; full marks to a factor of 1.1, none from 2 on, by the log of the ratio between.
    [("1070 GB", 1.0), ("900 GB", 1.0), ("1960 GB", 0.0), ("490 GB", 0.0), ("1386 GB", 0.5796), ("693 GB", 0.5796)],
)
def test_a_number_fades_from_a_tenth_off_to_a_factor_of_two(value, score):
    found = mark(said("checkpoint-bytes", "production", value), INTERVAL, *SOUND)
    assert found.score == pytest.approx((score + 1) / 2, abs=2e-4)


def test_a_wrong_number_is_named_beside_what_it_is():
    found = mark(said("checkpoint-bytes", "production", "140 GB"), INTERVAL, *SOUND)
    assert found.why == (
        "Right: 1 of the 2 numbers asked for, before any measurement. "
        "140 GB was said for checkpoint bytes, and 980 GB is right."
    )


def test_the_better_scale_is_the_one_that_counts():
    assert mark(said("checkpoint-bytes", "production", "140 GB"), LAB_BYTES, INTERVAL, *SOUND).score == 1


def test_the_first_word_counts_and_not_a_second_guess():
    assert mark(said("checkpoint-bytes", "production", "140 GB"), BYTES, INTERVAL, *SOUND).score == 0.5


def test_what_comes_after_readings_counts_for_what_it_could_still_steer():
    place = SOUND.index(CHANGES)
    late = mark(BYTES, *SOUND[:place], INTERVAL, *SOUND[place:])
    # Half of it, times the one of three readings that is still to come.
    assert late.score == pytest.approx((1 + 0.5 / 3) / 2)
    assert "some only after the first move" in late.why
    assert mark(BYTES, *SOUND[: SOUND.index(DIAGNOSE)], INTERVAL, *SOUND[SOUND.index(DIAGNOSE) :]).score == 0.5


def test_nothing_worked_out_earns_nothing_and_nothing_asked_is_not_judged():
    assert (mark(*SOUND).score, mark(*SOUND).applicable) == (0, True)
    assert not mark(*SOUND, known=recovery.knowledge()).applicable
    unknowable = KNOWN.model_copy(update={"estimates": (ASKED[0].model_copy(update={"accepted": ()}),)})
    assert not mark(*SOUND, known=unknowable).applicable


def test_a_number_that_was_not_asked_for_or_cannot_be_read_is_refused():
    for event, word in (
        (said("save-interval", "lab", "9 min"), "is not asked for"),
        (said("checkpoint-bytes", "lab", "12,2 MB"), "field value"),
    ):
        with pytest.raises(TranscriptError, match=word):
            mark(event, CONTENTS, SCHEDULE)


def test_every_number_that_an_incident_of_the_track_asks_for_has_an_answer():
    """Else nobody could earn the criterion."""
    asked = [one for one in library.every() if one.track == "checkpoints"]
    assert asked and all(one.estimates for one in asked)
    assert [e.quantity for one in asked for e in one.estimates if not e.accepted] == []
