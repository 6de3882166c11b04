"""What many scorecards say, and that too few say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from grader import history, spread
from grader.criteria import CRITERIA
from grader.scorecard import Named
from tests.grader import simulated
from tests.grader.played import SOUND, transcript, without
from tests.grader.scoring import STANDARD, grade

TRACKS = ("stragglers", "fabric", "checkpoints", "napkin-math")


@pytest.fixture(scope="module")
def card():
    return grade(transcript(SOUND), simulated.knowledge())


def cards(card, totals, tracks=TRACKS):
    return [
        card.model_copy(update={"total": total, "track": tracks[n % len(tracks)]}) for n, total in enumerate(totals)
    ]


def said(card, confidence, right):
    named = Named(event=3, causes=("degraded-link",), confidence=confidence, right=right)
    return card.model_copy(update={"diagnosis": named})


@pytest.mark.parametrize(("mean", "level"), [(0.5, "mid"), (0.7, "senior"), (0.9, "staff")])
def test_a_level_is_told_from_eight_attempts_over_three_tracks(mean, level):
    without_rule_outs = [event for event in SOUND if event["kind"] != "rule_out"]
    silent = grade(transcript(without_rule_outs), simulated.knowledge())
    found = history.level_signal(cards(silent, [mean - 0.02, mean + 0.02] * 4))
    assert (found.level, found.marked, found.attempts, found.tracks) == (level, "practice only", 8, 4)
    assert found.low < mean < found.high < found.low + 0.2
    assert bool(found.next_level) == (level != "staff")


@pytest.mark.parametrize(
    ("count", "tracks"), [(7, TRACKS), (20, TRACKS[:2]), (0, TRACKS)], ids=["attempts", "tracks", "nothing"]
)
def test_below_the_least_numbers_there_is_none_and_it_says_why(card, count, tracks):
    found = history.level_signal(cards(card, [0.7] * count, tracks))
    assert found.level is None
    over = len(set(tracks[:count]))
    assert f"there are {count} attempts over {over} {'track' if over == 1 else 'tracks'}." in found.why


def test_an_interval_wider_than_a_level_tells_none(card):
    found = history.level_signal(cards(card, [0.1, 0.9] * 4))
    assert found.level is None
    assert "wider than a level" in found.why
    assert found.high - found.low > history.LEVEL_WIDTH
    narrowed = history.level_signal(cards(card, [0.1, 0.9] * 60))
    assert narrowed.level == "mid"


def test_below_the_first_level_none_is_told_and_the_way_to_it_is(card):
    found = history.level_signal(cards(card, [0.2] * 8))
    assert found.level is None
    assert "below where mid begins" in found.why


def test_the_next_level_is_told_by_what_costs_most(card):
    poor = grade(
        transcript(without(*[e for e in SOUND if e["kind"] in ("rule_out", "prevent")])), simulated.knowledge()
    )
    found = history.level_signal(cards(poor, [0.7] * 8))
    assert found.next_level[0] == CRITERIA["rule-outs"].better
    assert CRITERIA["prevention"].better in found.next_level
    assert CRITERIA["split"].better not in found.next_level


def test_the_interval_of_the_mean_covers_it_about_nine_times_in_ten():
    draw = np.random.default_rng(3)
    covered = [
        abs(sample.mean() - 0.6) <= history.half_width(sample)
        for sample in (draw.normal(0.6, 0.1, 8) for _ in range(2000))
    ]
    assert np.mean(covered) == pytest.approx(0.90, abs=0.02)


def test_the_brier_score_needs_twenty_diagnoses_with_a_confidence(card):
    few = [said(card, 0.8, True)] * 19
    assert history.brier(few).score is None
    assert "19 so far" in history.brier(few).why
    silent = [said(card, None, True), card.model_copy(update={"diagnosis": None}), said(card, 0.5, None)]
    assert history.brier([*few, *silent]).score is None


def test_the_brier_score_is_the_mean_squared_miss(card):
    always_half = [said(card, 0.5, n % 2 == 0) for n in range(20)]
    assert history.brier(always_half).score == pytest.approx(0.25)
    too_sure = [said(card, 1.0, n % 4 == 0) for n in range(20)]
    found = history.brier(too_sure)
    assert (found.score, found.surer_by) == (pytest.approx(0.75), pytest.approx(0.75))
    assert history.brier([said(card, 0.9, True)] * 20).score == pytest.approx(0.01)


def test_a_total_stands_among_the_bots_for_its_own_cause(card):
    bots = {"degraded-link": [n / 40 for n in range(40)], "no-overlap": [0.99] * 40}
    assert history.standing(card.model_copy(update={"total": 0.5}), bots).percentile == pytest.approx(20.5 / 40)
    assert history.standing(card, bots).percentile == 1.0
    assert history.standing(card, {"degraded-link": [0.5] * 19}).percentile is None
    both = card.model_copy(update={"causes": ("degraded-link", "no-overlap")})
    assert history.standing(both, bots).percentile is None


def test_the_spread_of_the_bots_is_made_by_really_playing(card):
    knowledge = simulated.knowledge()
    totals = spread.totals_of(knowledge, STANDARD, "degraded-link", range(4))
    assert len(totals) >= history.LEAST_OF_BOTS
    assert totals == spread.totals_of(knowledge, STANDARD, "degraded-link", range(4))
    assert history.standing(card, {"degraded-link": totals}).percentile > 0.8
    nothing = grade(transcript([]), knowledge)
    assert history.standing(nothing, {"degraded-link": totals}).percentile < 0.1


def test_a_scorecard_holds_what_history_asks_for(card):
    assert card.diagnosis.right is True
    assert card.diagnosis.confidence == 0.95
    wrong = grade(transcript(SOUND, cause="worse-placement"), simulated.knowledge())
    assert wrong.diagnosis.right is False
    unknown = grade(transcript(SOUND, causes=[]), simulated.knowledge())
    assert unknown.diagnosis.right is None


def test_where_a_level_begins_it_is_reached(card):
    for least, level in ((0.40, "mid"), (0.60, "senior"), (0.80, "staff")):
        at, below = (history.level_signal(cards(card, [total] * 8)) for total in (least, least - 0.001))
        assert at.level == level
        assert below.level != level
        assert at.why == f"The mean of 8 attempts is {least:.2f}; {level} begins at {least:.2f}."
        assert (at.mean, at.low, at.high) == (pytest.approx(least),) * 3


def test_what_a_level_rests_on_is_said_in_full(card):
    few = history.level_signal(cards(card, [0.7] * 7))
    assert few.why == "A level needs 8 attempts over 3 tracks; there are 7 attempts over 4 tracks."
    assert (few.attempts, few.tracks, few.mean, few.low, few.high) == (7, 4, None, None, None)
    wide = history.level_signal(cards(card, [0.1, 0.9] * 4))
    assert wide.why == "The interval, 0.21 to 0.79, is wider than a level; more attempts narrow it."
    assert (wide.mean, wide.attempts, wide.tracks) == (0.5, 8, 4)
    low = history.level_signal(cards(card, [0.2] * 8))
    assert low.why == "The mean, 0.20, lies below where mid begins, 0.40."
    assert low.mean == pytest.approx(0.2)


def test_three_tracks_are_enough_and_those_without_a_name_do_not_count(card):
    assert history.level_signal(cards(card, [0.7] * 8, TRACKS[:3])).level == "senior"
    assert history.level_signal(cards(card, [0.7] * 8, (*TRACKS[:2], ""))).tracks == 2


def test_an_interval_ends_at_nothing_and_at_everything(card):
    near_nothing = history.level_signal(cards(card, [0.0] * 7 + [0.05]))
    near_everything = history.level_signal(cards(card, [1.0] * 7 + [0.95]))
    assert (near_nothing.low, near_everything.high) == (0.0, 1.0)


def test_half_the_interval_is_student_t_of_the_spread():
    """Eight totals, seven degrees of freedom: t at 95 % one-sided is 1.8946."""
    totals = np.array([0.5, 0.7] * 4)
    assert history.half_width(totals) == pytest.approx(1.8946 * totals.std(ddof=1) / np.sqrt(8), rel=1e-4)


def marked(card, **marks):
    """A card whose criteria are these: (score, weight, applicable)."""
    own = next(iter(card.criteria.values()))
    criteria = {
        name: own.model_copy(update={"score": score, "weight": weight, "applicable": applicable})
        for name, (score, weight, applicable) in marks.items()
    }
    return card.model_copy(update={"criteria": criteria})


def test_what_to_do_next_is_by_what_was_lost_of_the_next_level_by_weight(card):
    """Senior wants 0.70: `split` lacks 0.2 at 0.2, `bisect` 0.6 at 0.1, `repair` 0.7 at 0.05, `confirm` nothing."""
    one = marked(
        card, split=(0.5, 0.2, True), bisect=(0.1, 0.1, True), repair=(0.0, 0.05, True), confirm=(0.7, 0.6, True),
        audit=(0.0, 0.9, False), unheard=(0.0, 0.9, True),
    )  # fmt: skip
    wanted = [CRITERIA[name].better for name in ("bisect", "split", "repair")]
    assert history.next_steps([one], 1) == tuple(wanted)
    twice = marked(card, repair=(0.0, 0.2, True))
    assert history.next_steps([one, twice], 1) == tuple(CRITERIA[n].better for n in ("repair", "bisect", "split"))
    assert history.next_steps([one], 3) == ()
    even = marked(
        card, split=(0.0, 0.1, True), repair=(0.0, 0.1, True), bisect=(0.0, 0.1, True), quantify=(0, 0.1, True)
    )
    assert history.next_steps([even], 0) == tuple(CRITERIA[n].better for n in ("bisect", "quantify", "repair"))


def test_a_level_is_followed_by_the_next_and_below_the_first_comes_the_first(card):
    """At 0.62 of `split`: mid wants 0.5 of it and has it; senior wants 0.7, staff 0.9."""
    with_split = marked(card, split=(0.62, 1.0, True))
    assert history.level_signal(cards(with_split, [0.2] * 8)).next_level == ()
    assert history.level_signal(cards(with_split, [0.5] * 8)).next_level == (CRITERIA["split"].better,)
    nearly = marked(card, split=(0.85, 1.0, True))
    assert history.level_signal(cards(nearly, [0.5] * 8)).next_level == ()
    assert history.level_signal(cards(nearly, [0.7] * 8)).next_level == (CRITERIA["split"].better,)


def test_twenty_diagnoses_are_enough_and_what_they_rest_on_is_said(card):
    few = history.brier([said(card, 0.8, True)] * 19)
    assert (few.why, few.attempts) == ("It needs 20 diagnoses with a confidence; 19 so far.", 19)
    enough = history.brier([said(card, 0.5, True), said(card, 0.9, False)] * 10)
    assert (enough.why, enough.attempts) == ("Over 20 diagnoses with a confidence.", 20)
    assert (enough.score, enough.surer_by) == (pytest.approx((0.25 + 0.81) / 2), pytest.approx(0.7 - 0.5))


def test_what_a_standing_rests_on_is_said(card):
    few = history.standing(card, {"degraded-link": [0.5] * 19})
    assert (few.why, few.bots) == ("It needs 20 totals of bots for this cause; 19 are known.", 19)
    none = history.standing(card, {})
    assert (none.why, none.bots, none.median) == ("It needs 20 totals of bots for this cause; 0 are known.", 0, None)
    found = history.standing(card.model_copy(update={"total": 0.25}), {"degraded-link": [n / 20 for n in range(20)]})
    assert found == history.Standing(
        pytest.approx(5.5 / 20), "Among 20 searches by bots for the same cause.", 20, pytest.approx(0.475)
    )


def test_what_little_is_lost_again_and_again_comes_before_what_is_lost_once(card):
    once = marked(card, split=(0.5, 0.2, True), bisect=(0.1, 0.1, True))
    again = marked(card, split=(0.5, 0.2, True))
    assert history.next_steps([once], 1)[0] == CRITERIA["bisect"].better
    assert history.next_steps([once, again], 1)[0] == CRITERIA["split"].better


def test_an_interval_just_narrower_than_a_level_tells_one(card):
    found = history.level_signal(cards(card, [0.6, 0.8] * 4))
    assert found.level == "senior"
    assert 0.13 < found.high - found.low < 0.2


def test_below_the_first_level_what_it_wants_is_told(card):
    poor = marked(card, split=(0.3, 1.0, True))
    assert history.level_signal(cards(poor, [0.2] * 8)).next_level == (CRITERIA["split"].better,)
