"""When an item comes up again: FSRS, fed with what the answer itself says of how well it was known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fsrs import Card, Rating, Scheduler

AGAIN, HARD, GOOD = Rating.Again, Rating.Hard, Rating.Good
# In the person's words: the rating is derived, so it has to be told.
SAID = {
    Rating.Again: "again: it was not right",
    Rating.Hard: "hard: right, but worked out slowly",
    Rating.Good: "good: right, in good time",
    Rating.Easy: "easy",
}
# One step: right at once is known, and wrong comes back within the sitting. No fuzz, so that the page can say when.
SCHEDULER = Scheduler(
    learning_steps=(timedelta(minutes=10),), relearning_steps=(timedelta(minutes=10),), enable_fuzzing=False
)


@dataclass(frozen=True)
class Review:
    """The card after a review, ready to be stored, and when it is due."""

    state: dict[str, Any]
    due: datetime


def rating_of(right: bool, seconds: float, slow_after_s: float) -> Rating:
    """Right is good, right but slow is hard, everything else is again."""
    if not right:
        return AGAIN
    return HARD if seconds > slow_after_s else GOOD


def review(state: dict[str, Any] | None, rating: Rating, now: datetime) -> Review:
    """A card's state (None for a new one) after a rating."""
    # FSRS numbers cards by the clock and sleeps to keep numbers apart; ours are told apart by their row.
    card = Card.from_dict(state) if state else Card(card_id=0)  # type: ignore[arg-type]
    after, _ = SCHEDULER.review_card(card, rating, review_datetime=now.astimezone(UTC))
    return Review(dict(after.to_dict()), after.due)
