"""The bots play fair: the same seed gives the same attempt, and each can play every cause."""

import pytest

from grader import bots
from grader.knowledge import CauseKnowledge, FixKnowledge, MeasureKnowledge
from grader.physics import PAYLOAD_SHARE
from tests.grader import simulated, two_causes
from tests.grader.scoring import grade


@pytest.mark.parametrize("bot", sorted(bots.BOTS))
def test_the_same_seed_plays_the_same_attempt(bot, knowledge):
    assert bots.play(bot, knowledge, "no-overlap", 7) == bots.play(bot, knowledge, "no-overlap", 7)


def test_another_seed_plays_another():
    known = simulated.knowledge()
    assert bots.play("random", known, "no-overlap", 7) != bots.play("random", known, "no-overlap", 8)


@pytest.mark.parametrize("bot", sorted(bots.BOTS))
@pytest.mark.parametrize("cause", sorted(simulated.CAUSES))
def test_every_bot_plays_every_cause(bot, cause, knowledge):
    assert 0 <= grade(bots.play(bot, knowledge, cause, 1), knowledge).total <= 1


def test_a_bot_that_nobody_knows_is_refused(knowledge):
    with pytest.raises(KeyError):
        bots.play("clairvoyant", knowledge, "no-overlap", 1)


def test_a_bot_says_only_the_eliminations_that_its_readings_entail_and_each_once(knowledge):
    made = bots.play("greedy-information", knowledge, "degraded-link", 1)
    struck = [cause for event in made["events"] if event["kind"] == "rule_out" for cause in event["causes"]]
    assert len(struck) == len(set(struck)) > 3
    assert {claim.status for claim in grade(made, knowledge).ruled_out} == {"entailed"}


def cause(name, kind):
    return CauseKnowledge(id=name, family="host", title=name, prior=1, place_kind=kind)


def telling(name, p_host, p_link, **fields):
    """A step of its own experiment that shows `a` with these chances."""
    chances = {"host-fault": p_host, "bad-link": p_link, "healthy": 0.0}
    cells = {cause: two_causes.cell({"a": p, "b": 1 - p}) for cause, p in chances.items()}
    return two_causes.step(name, ("a", "b"), cells, experiment=name, **fields)


FIXES = (
    FixKnowledge(id="idle", title="idle", takes_place=False, effects={}),
    FixKnowledge(id="swap-host", title="swap", takes_place=True, effects={"host-fault": "cures"}),
    FixKnowledge(id="worse", title="worse", takes_place=False, effects={"host-fault": "harms"}),
)
MEASURES = (MeasureKnowledge(id="watch", title="watch", catches=("host-fault",)),)


def incident(*steps, kinds=("host", "link"), **fields):
    causes = (cause("host-fault", kinds[0]), cause("bad-link", kinds[1]))
    return two_causes.knowledge(causes=causes, steps=steps, fixes=FIXES, measures=MEASURES, **fields)


def events(made, kind):
    return [event for event in made["events"] if event["kind"] == kind]


def steps_of(bot, known, cause="host-fault", seed=1):
    return [event["step"] for event in events(bots.play(bot, known, cause, seed), "step")]


SURE = telling("sure", 1.0, 0.0)
DULL = tuple(telling(f"dull-{number}", 0.5, 0.5) for number in range(3))


def test_a_bot_says_where_by_the_kind_of_place_and_nothing_where_there_is_none():
    made = bots.play("greedy-information", incident(SURE), "host-fault", 1)
    assert made["places"] == {"host-fault": ["host:1"], "bad-link": ["link:host1-leaf0"]}
    assert events(made, "diagnose")[0]["where"] == events(made, "fix")[0]["where"] == "host:1"
    assert "where" not in events(bots.play("run-everything", incident(SURE), "bad-link", 1), "fix")[0]
    placeless = bots.play("greedy-information", incident(SURE, kinds=("none", "rank")), "host-fault", 1)
    assert placeless["places"] == {"bad-link": ["rank:1"]}
    assert "where" not in events(placeless, "diagnose")[0]


@pytest.mark.parametrize("of", ["host-fault", "bad-link"])
def test_a_player_is_as_sure_as_of_the_likeliest_cause_whichever_it_is(of):
    player = bots.Player(incident(SURE), of, 1)
    assert player.certainty == pytest.approx(0.49)
    player.step(0)
    assert player.certainty == pytest.approx(0.49 / (0.49 + 0.02 * 0.5), abs=1e-3)


def test_a_role_is_played_by_the_first_step_that_has_it_up_to_the_last():
    player = bots.Player(incident(SURE, telling("bench", 0.5, 0.5, tells=("bisect",))), "host-fault", 1)
    assert (player.role("bisect"), player.role("straggler")) == (1, None)


def test_a_bot_that_is_sure_asks_no_more_though_there_were_more_to_learn():
    """Each step leaves three in a hundred in doubt, which the next would halve and more."""
    three = incident(*(telling(f"step-{number}", 0.999, 0.001) for number in range(3)))
    for bot in ("oracle", "greedy-information", "hint-harvester"):
        assert len(steps_of(bot, three)) == 1, bot


@pytest.mark.parametrize("bot", ["oracle", "greedy-information", "hint-harvester"])
def test_a_bot_that_can_learn_nothing_takes_no_step_though_it_is_not_sure(bot):
    assert steps_of(bot, incident(*DULL)) == []


def test_a_search_that_never_gets_sure_ends_after_twelve_steps():
    endless = incident(*(telling(f"step-{number}", 0.6, 0.4) for number in range(20)))
    assert len(steps_of("greedy-information", endless)) == 12


def test_what_a_step_would_show_is_worth_its_rise_a_minute():
    """`a` under the host's fault: from 0.49 to 0.49·0.9 over the sum with 0.49·0.1 and 0.02·0.5."""
    steps = [telling(f"step-{minutes}", 0.9, 0.1, minutes=minutes) for minutes in (4, 1, 0)]
    player = bots.Player(incident(*steps), "host-fault", 1)
    rise = 0.441 / (0.441 + 0.049 + 0.01) - 0.49
    found = [bots._support(player, row, 0) for row in range(3)]
    assert found == pytest.approx([rise / 4, rise / 1, rise / 0.5])


def test_generations_are_looked_at_only_where_the_incident_is_about_saves():
    generation = telling("generation", 0.5, 0.5, tells=("generation",))
    assert steps_of("greedy-information", incident(SURE, generation)) == ["sure"]
    assert steps_of("greedy-information", incident(SURE, generation, track="checkpoints")) == ["sure", "generation"]


def test_a_fraction_just_at_the_threshold_is_said_to_be_at_the_floor():
    symptom = two_causes.step("symptom", ("at-floor",), {"host-fault": {"at-floor": 1.0}}, minutes=0)
    for least, said in ((PAYLOAD_SHARE, "at-floor"), (PAYLOAD_SHARE + 1e-9, "below-floor")):
        known = incident(SURE, symptom=symptom, at_floor_from=least)
        verdicts = events(bots.play("greedy-information", known, "host-fault", 1), "verdict")
        assert [verdict["collective"] for verdict in verdicts] == [said]


def test_a_random_search_takes_three_to_eight_steps():
    known = incident(SURE, *DULL)
    assert {len(steps_of("random", known, seed=seed)) for seed in range(60)} == set(range(3, 9))


def test_a_repair_is_the_cure_or_the_first_there_is_and_is_verified_as_it_would_look():
    bench = telling("bench", 1.0, 0.0, tells=("bisect",))

    def repaired(cause, *steps):
        made = bots.play("run-everything", incident(*steps), cause, 1)
        verify = events(made, "verify")[0]
        return events(made, "fix")[0]["fix"], verify["step"], verify["finding"], verify["against"]

    assert repaired("host-fault", DULL[0], bench) == ("swap-host", "bench", "b", ["floor", "loss"])
    assert repaired("bad-link", bench, DULL[0]) == ("idle", "bench", "b", ["floor", "loss"])
    assert repaired("host-fault", SURE, DULL[0]) == ("swap-host", "sure", "b", ["floor", "loss"])
    wrong = bots.Player(incident(bench), "host-fault", 1)
    bots.repair(wrong, "bad-link", {})
    assert [event["kind"] for event in wrong.events] == ["fix", "verify"]
    assert (wrong.events[0]["fix"], wrong.events[1]["finding"]) == ("idle", "a")


@pytest.mark.parametrize(
    ("kinds", "answer"),
    [(("host", "link"), "bad-link"), (("link", "link"), "host-fault"), (("none", "none"), "host-fault")],
)
def test_the_same_answer_is_the_first_link_or_the_first_cause(kinds, answer):
    made = bots.play("same-answer", incident(SURE, kinds=kinds), "bad-link", 1)
    (said,) = events(made, "diagnose")
    assert (said["causes"], said["confidence"]) == ([answer], 0.9)
