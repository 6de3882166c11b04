"""A large attempt is graded whole, and its work grows with its events, not faster. Times are in `make bench`."""

import sys

from tests.grader import large
from tests.grader.scoring import grade


def calls(events: int) -> int:
    """Python calls made while grading a transcript of this length, warm: a count, so no clock."""
    knowledge, transcript, made = KNOWLEDGE, large.transcript(events), 0

    def count(frame, event, arg):
        nonlocal made
        made += event == "call"

    grade(transcript, knowledge)
    sys.setprofile(count)
    try:
        grade(transcript, knowledge)
    finally:
        sys.setprofile(None)
    return made


KNOWLEDGE = large.knowledge()


def test_a_forty_event_attempt_with_eighteen_causes_is_graded():
    card = grade(large.transcript(), KNOWLEDGE)
    assert len(card.steps) == 17
    assert len(card.posterior) == 19


def test_work_grows_no_faster_than_events():
    # From the length on where every step of the palette was taken once.
    assert calls(320) < 4.6 * calls(80)
