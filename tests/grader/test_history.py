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
    assert f"{count} attempts over {len(set(tracks[:count]))} tracks" in found.why


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
