"""The walk through the events: what counts, under which cause a reading is taken, who is cited."""

from __future__ import annotations

import pytest

from grader.alerts import Stream, Trial
from grader.grade import case_of
from grader.transcript import TranscriptError
from tests.grader import two_causes
from tests.grader.histories import history, known
from tests.grader.played import BISECT, DIAGNOSE, FIX, RATES, SOUND, SPLIT, VERIFY, swapped, transcript
from tests.grader.scoring import STANDARD, grade

ARRIVALS = {"kind": "step", "step": "collective-arrivals"}


def line(events, knowledge, **head):
    return case_of(transcript(events, **head), knowledge, STANDARD).timeline


def test_a_step_that_ends_with_the_budget_is_in_time(knowledge):
    """Three and eight minutes."""
    for budget, counted in ((11.0, [True, True]), (10.9, [True, False])):
        taken = line([SPLIT, BISECT], knowledge.model_copy(update={"time_budget_min": budget})).taken
        assert [t.counts for t in taken] == counted


def test_a_cause_thrown_later_changes_nothing_about_an_idle_fix(knowledge):
    idle, thrown = {"kind": "fix", "fix": "restore-overlap"}, {"kind": "curveball", "cause": "no-overlap"}
    assert [t.counts for t in line([SPLIT, idle, BISECT, thrown], knowledge).taken] == [True, True]
    assert [t.counts for t in line([SPLIT, thrown, idle, BISECT], knowledge).taken] == [True, False]


def test_what_is_left_out_is_read_under_the_first_cause_or_the_last_thrown(knowledge):
    def shown(*events, causes=("degraded-link", "throttled-rank")):
        return [t.finding for t in line(list(events), knowledge, causes=list(causes), symptom=None).taken]

    thrown = [{"kind": "curveball", "cause": cause} for cause in ("slow-input-rank", "throttled-rank", "no-overlap")]
    times = {"kind": "step", "step": "per-rank-step-times"}
    assert shown(times) == ["even"]
    assert shown(thrown[0], times) == ["one-rank-slow-input"]
    assert shown(*thrown[:2], times) == ["one-rank-slow-compute"]
    assert shown(*thrown, times) == ["even"]
    assert shown(times, thrown[0]) == ["even"]
    assert shown(thrown[1], times, causes=()) == ["one-rank-slow-compute"]


@pytest.mark.parametrize(
    ("because", "cited"),
    [
        (["per-rank-step-times"], [0]), ([0], [0]), (["0"], [0]), ([{"ref": 0}], [0]),
        ([{"ref": "0", "text": "even"}], [0]), (["microbenchmark[placement=as-job,size=job]"], [1]),
        (["microbenchmark", 0], [0, 1]), ([2], []), ([3], []), (["link-rates"], []), (["so it seems"], []),
        ([], []), (["000000000"], []),
    ],
)  # fmt: skip
def test_a_reading_is_cited_by_index_by_step_or_by_variant_once_it_was_in_hand(because, cited, knowledge):
    events = [SPLIT, BISECT, {"kind": "rule_out", "causes": ["no-overlap"], "because": because}, RATES]
    made = line(events, knowledge)
    said = made.transcript.events[2]
    assert [t.event for t in made.cited(said.because, 2)] == cited


def test_a_prediction_counts_for_the_first_reading_of_its_own_step_after_it(knowledge):
    def told(*events):
        return grade(transcript(list(events)), knowledge).predictions

    def predict(step, *said):
        expect = [{"causes": [cause], "finding": finding} for cause, finding in said]
        return {"kind": "predict", "step": step["step"], "with": step.get("with", {}), "expect": expect}

    link = predict(RATES, ("degraded-link", "one-link-lower"))
    assert told(link, SPLIT) == ()
    assert told(RATES, link) == ()
    assert [p.event for p in told(predict(BISECT, ("degraded-link", "below-floor")), link, SPLIT, RATES)] == [1]
    assert [p.event for p in told(link, link, RATES)] == [0]
    both = told(predict(RATES, ("degraded-link", "one-link-lower"), ("no-overlap", "one-link-lower")), RATES)[0]
    assert both.score == pytest.approx((1 + 0.005 / 0.992) / 2, abs=2e-3)
    assert told(predict(RATES, ("gremlins", "nominal")), RATES) == ()


def test_the_steps_that_are_known_are_listed_to_the_last():
    made = {"scenario": "two", "events": [{"at_s": 0, "kind": "step", "step": "zzz"}]}
    with pytest.raises(TranscriptError, match=r"known are times, rates, swap$"):
        grade(made, two_causes.knowledge())


def test_a_verification_is_read_as_healthy_only_after_a_cure(knowledge):
    bare = {name: value for name, value in VERIFY.items() if name != "finding"}

    def shown(*events):
        return [v.finding for v in grade(transcript([SPLIT, *events]), knowledge).verifications]

    idle = {"kind": "fix", "fix": "reboot-switches"}
    assert shown(bare) == ["below-floor"]
    assert shown(FIX, bare) == ["at-floor"]
    assert shown(idle, bare) == ["below-floor"]
    assert shown(FIX, idle, bare) == ["below-floor"]
    assert shown(FIX, {**VERIFY, "finding": "inconclusive"}) == ["inconclusive"]


def test_a_verification_says_what_it_was_held_against(knowledge):
    for said, against in (("floor", ("floor",)), (["loss", "floor"], ("loss", "floor"))):
        card = grade(transcript(swapped(VERIFY, {**VERIFY, "against": said})), knowledge)
        assert card.verifications[0].against == against
        assert card.verifications[0].step == "microbenchmark[placement=as-job,size=job]"


def prevented(knowledge, *alerts, metric=None, cause="degraded-link", **changed):
    said = {"kind": "prevent", "measures": [], "alerts": [{"metric": "busbw", "threshold": 0.7, **a} for a in alerts]}
    events = [{**e, **changed} if e == DIAGNOSE else said if e["kind"] == "prevent" else e for e in SOUND]
    card = grade(transcript(events, cause=cause), knowledge)
    return card.criteria["prevention"], card.alerts


def test_an_alert_watches_the_side_on_which_its_metric_gets_worse(knowledge):
    alerted = known(knowledge, *(history(number, "degraded-link") for number in range(2)))
    upside_down = alerted.metrics[0].model_copy(update={"worse": "higher"})
    _, (alert,) = prevented(alerted.model_copy(update={"metrics": (upside_down,)}), {})
    assert (alert.direction, alert.detected) == ("above", 0)
    _, (alert,) = prevented(alerted, {})
    assert (alert.direction, alert.detected) == ("below", 2)


def test_of_the_true_and_the_supported_cause_the_one_that_the_alert_shows_best(knowledge):
    """The truth is another one, whose histories the alert misses; what the readings spoke for it catches."""
    faint = [history(number, None) for number in range(3)]
    faint = [type(t)(t.id, "no-overlap", tuple(type(s)(s.of, s.at_s, s.values, 10) for s in t.streams)) for t in faint]
    alerted = known(knowledge, *faint, *(history(9 + number, "degraded-link") for number in range(2)))
    mark, (alert,) = prevented(alerted, {}, cause="no-overlap")
    assert (alert.cause, alert.detected, alert.tried, mark.score) == ("degraded-link", 2, 2, 1)
    unsupported, (alert,) = prevented(alerted, {}, cause="no-overlap", causes=["fallback-transport"])
    assert (alert.cause, alert.detected, alert.tried, unsupported.score) == ("no-overlap", 0, 3, 0)


def test_the_delay_is_the_middle_one_and_of_two_alerts_the_sooner(knowledge):
    def late(number, by):
        values = tuple(0.4 if point >= 10 + by else 1.0 for point in range(20))
        one = history(number, "degraded-link")
        return type(one)(one.id, one.fault, tuple(type(s)(s.of, s.at_s, values, 10) for s in one.streams))

    alerted = known(knowledge, *(late(number, by) for number, by in enumerate((0, 1, 5, 9))))
    _, (alert,) = prevented(alerted, {})
    assert (alert.detected, alert.delay_points, alert.delay_s) == (4, 6.0, 6.0)
    soon = known(knowledge, history(0, "degraded-link"))
    mark, _ = prevented(soon, {"window": 6}, {"window": 3})
    assert "after 3 points" in mark.why
    assert "at the first faulty point" in prevented(soon, {"window": 6}, {"window": 1})[0].why


def test_without_a_healthy_point_no_alarm_is_false(knowledge):
    one = history(0, "degraded-link")
    ill = type(one)(one.id, one.fault, tuple(type(s)(s.of, s.at_s[:5], (0.4,) * 5, 0) for s in one.streams))
    mark, (alert,) = prevented(known(knowledge, ill), {})
    assert (mark.score, alert.false_alarms_per_1000) == (1, 0.0)


def test_false_alarms_are_told_per_thousand_healthy_points(knowledge):
    """One in 110 healthy points; three in 130."""
    ill = [history(number, "degraded-link") for number in range(3)]
    one = known(knowledge, *ill, *(history(9 + n, None, noise_at=5 if n < 1 else None) for n in range(4)))
    mark, (alert,) = prevented(one, {})
    assert alert.false_alarms_per_1000 == pytest.approx(1000 / 110)
    assert "with 9 false alarms in 1,000 healthy points" in mark.why
    assert mark.score == pytest.approx(1 - (1000 / 110 - 3) / 57)


def verified(finding, healthy, **cells):
    """Whether a fix held, by one step whose healthy runs and causes show findings with these chances."""
    shown = {"healthy": two_causes.cell(healthy)} | {
        name.replace("_", "-"): two_causes.cell(p) for name, p in cells.items()
    }
    made = two_causes.step("look", ("well", "ill", "odd"), shown)
    event = {"at_s": 0, "kind": "verify", "step": "look", "against": "floor", "finding": finding}
    card = grade({"scenario": "two", "events": [event]}, two_causes.knowledge(steps=(made,)))
    return card.verifications[0].held


def test_a_verification_holds_where_the_finding_is_healthy_s_rather_than_any_cause_s():
    ill = {"well": 0.05, "ill": 0.9, "odd": 0.05}

    def held(finding, healthy):
        return verified(finding, healthy, host_fault=ill, bad_link=ill)

    assert held("well", {"well": 0.5, "ill": 0.01}) is True
    assert held("ill", {"well": 0.9, "ill": 0.1}) is False
    assert held("odd", {"well": 0.9, "odd": 0.055}) is None
    assert held("ill", {"well": 1.0}) is False
    assert verified("well", {"well": 1.0}) is not False


def test_a_step_says_its_finding_in_a_sentence(knowledge):
    worded = knowledge.steps[0].model_copy(update={"sentences": {"even": "No rank is slow."}})
    card = grade(transcript([SPLIT]), knowledge.model_copy(update={"steps": (worded, *knowledge.steps[1:])}))
    assert card.steps[0].finding_sentence == "No rank is slow."


@pytest.mark.parametrize(
    ("alarms", "points", "said"),
    [
        (1, 2000, "0.5 false alarms"), (1, 1000, "1 false alarms"), (3, 2000, "2 false alarms"),
        (9, 1000, "9 false alarms"), (0, 1000, "no false alarm"),
    ],
)  # fmt: skip
def test_false_alarms_are_told_in_whole_numbers_from_one_on(alarms, points, said, knowledge):
    """The faulty run has ten healthy points, a long healthy one all the others."""
    at = tuple(map(float, range(1, points - 10 + 1)))
    values = [1.0] * len(at)
    for number in range(alarms):
        values[20 * number + 5] = 0.4
    faulty, long = history(0, "degraded-link"), Trial("long", None, (Stream("all ranks", at, tuple(values), None),))
    mark, _ = prevented(known(knowledge, faulty, long), {})
    assert f", with {said}" in mark.why


def test_a_delay_of_two_points_is_told_as_two(knowledge):
    soon = known(knowledge, history(0, "degraded-link"))
    assert "1 of 1 times, after 2 points, with" in prevented(soon, {"window": 2})[0].why
    assert "1 of 1 times, at the first faulty point, with" in prevented(soon, {"window": 1})[0].why


def test_an_alarm_at_the_very_beginning_is_the_soonest(knowledge):
    """Of a run that is ill from its first point, which stands at no seconds."""
    ill = Trial("ill", "degraded-link", (Stream("all ranks", (0.0, 0.5, 1.0, 1.5), (0.4,) * 4, 0),))
    assert "at the first faulty point" in prevented(known(knowledge, ill), {"window": 2}, {})[0].why
