"""Scenarios that share a table: each draws, fills and knows its own, of runs that serve them all."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from gpu_worker.specs import ExperimentSpec, WholeRun
from scenarios import bank, calibrate, draws, filling, fixes, instances, knowledge, library, offered, reports, sharing
from scenarios.errors import BankIncomplete, ScenarioError, ScenarioErrors
from scenarios.format import CauseBinding, Fix, Scenario

KEY = "slow-all-reduce"
FLAGSHIP = library.get(KEY, 1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER_STEPS = ("per-rank-step-times", "link-rates", "change-log")
ONEWAY = CauseBinding(
    id="oneway-degradation",
    places=("link:host0-leaf0",),
    params={"rate": (145_000_000, 195_000_000)},
    debrief="One way.",
)
HALVED = Fix(id="halve-bytes", title="Halve", description="Bytes.", job={"communication_dtype": "bfloat16"})


def other(**changed: object) -> Scenario:
    """Another incident on the flagship's table: some of its causes, steps and fixes, none of which changes the job."""
    causes = tuple(one for one in FLAGSHIP.causes if one.id in ("degraded-link", "comparison-changed"))
    fields = {"key": "other", "causes": causes, "steps": OTHER_STEPS, "fixes": FLAGSHIP.fixes[:3]}
    bare = tuple(one.model_copy(update={"under": {}}) for one in causes)
    return FLAGSHIP.model_copy(update={**fields, "causes": bare, **changed})


OTHER = other()
Fill = Callable[[Scenario], int]


@pytest.fixture(scope="module")
def measured() -> dict[str, WholeRun]:
    """One really measured run of each experiment."""
    healthy = next(one for one in bank.complete_instances(FLAGSHIP) if one.is_healthy)
    return {key: bank.whole_run(FLAGSHIP.table, healthy.id, key) for key in offered.experiments_for(FLAGSHIP)}


@pytest.fixture
def lab(measured: dict[str, WholeRun]) -> Callable[[ExperimentSpec], WholeRun]:
    return lambda spec: measured[spec.key].model_copy(update={"spec": spec})


@pytest.fixture
def fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab: Callable[[ExperimentSpec], WholeRun]) -> Fill:
    """Fills an empty bank with two instances a cause of a scenario, as far as it lacks them; gives the runs made."""
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    return lambda scenario: filling.fill(plan(scenario), lab, lambda _: None).made


def plan(scenario: Scenario) -> list[filling.Wanted]:
    return filling.wanted_runs(scenario, 2, 2, "seed")


def held() -> dict[str, dict]:
    return {path.name: bank.read(path) for path in bank.files(FLAGSHIP.table)}


def test_an_incident_draws_instances_of_its_own_causes_alone():
    drawn = [instances.draw(OTHER, seed=seed) for seed in range(40)]
    assert {one.cause for one in drawn} == set(OTHER.prior)
    assert {one.id for one in drawn} <= {one.id for one in bank.complete_instances(FLAGSHIP)}
    assert {one.cause for one in bank.complete_instances(OTHER)} == {*OTHER.prior, "healthy"}


def test_what_was_met_in_one_incident_is_avoided_in_another():
    met = [one.id for one in bank.complete_instances(FLAGSHIP) if one.cause == "degraded-link"][1:]
    drawn = {one.id for one in (instances.draw(OTHER, seed=seed, avoid=met) for seed in range(40))}
    fresh = {one.id for one in bank.complete_instances(OTHER) if one.cause == "degraded-link"} - set(met)
    assert len(fresh) == 1 and fresh < drawn and not drawn & set(met)


def test_an_instance_has_the_fixes_of_the_incident_that_draws_it():
    flagship, halved = FLAGSHIP, other(fixes=(*FLAGSHIP.fixes[:3], HALVED))
    trials = {
        scenario.key: {tuple(one.trials) for one in bank.complete_instances(scenario) if one.cause in OTHER.prior}
        for scenario in (flagship, OTHER)
    }
    assert trials == {KEY: {(), ("add-gpus",)}, "other": {()}}
    (one,) = [one for one in bank.complete_instances(FLAGSHIP) if one.cause == "comparison-changed"][:1]
    seen = instances.as_in(halved, one)
    assert seen.trials == ["halve-bytes"] and (seen.id, seen.setting, seen.params) == (one.id, one.setting, one.params)
    assert fixes.left_behind(halved, seen, [("halve-bytes", None)]) == "halve-bytes"
    assert fixes.left_behind(OTHER, instances.as_in(OTHER, one), [("move-input", "rank:1")]) == "nothing"


def test_the_second_incident_on_a_table_asks_for_no_run_that_is_there(fill):
    assert fill(FLAGSHIP) > 0
    before = held()
    assert plan(OTHER) == [] and fill(OTHER) == 0
    assert held() == before
    assert {one.cause for one in bank.complete_instances(OTHER)} == {*OTHER.prior, "healthy"}


def test_a_new_cause_and_a_new_fix_ask_for_their_own_runs_alone(fill):
    fill(FLAGSHIP)
    before = held()
    more = other(causes=(*OTHER.causes, ONEWAY), fixes=(*OTHER.fixes, HALVED))
    slots = Counter((one.instance.cause, one.what) for one in plan(more))
    assert set(slots) == {
        ("oneway-degradation", "nothing"),
        *((cause, "halve-bytes") for cause in ("healthy", "oneway-degradation", *OTHER.prior)),
    }
    fill(more)
    assert plan(more) == plan(FLAGSHIP) == []
    after = held()
    for name, content in before.items():
        assert after[name]["instance"] == content["instance"]
        for slot in bank.slots_of(content):
            assert bank.run_in(after[name], slot) == bank.run_in(content, slot)


def test_steps_and_fixes_that_an_incident_does_not_offer_cause_no_runs_for_it(fill):
    fill(OTHER)
    kinds = {(what, key) for content in held().values() for what, key in bank.slots_of(content)}
    assert kinds == {("nothing", "job"), ("before", "job")}
    assert len(bank.complete_instances(OTHER)) == 2 * len(OTHER.prior) + filling.LEAST_HEALTHY
    assert bank.complete_instances(FLAGSHIP) == []


def test_instances_of_a_number_are_the_same_whichever_incident_draws_them_first():
    for binding in (None, OTHER.cause("degraded-link")):
        one, two = (draws.draw_instance(scenario, binding, 3, "seed") for scenario in (FLAGSHIP, OTHER))
        assert (one.id, one.place, one.params, one.setting) == (two.id, two.place, two.params, two.setting)


def test_a_calibration_is_the_same_whichever_incident_asks(fill):
    more = other(causes=(*OTHER.causes, ONEWAY))
    fill(FLAGSHIP)
    fill(more)
    asked = [calibrate.calibrate(scenario, now=NOW) for scenario in (FLAGSHIP, OTHER, more)]
    assert asked[0] == asked[1] == asked[2]
    assert set(asked[0].runs) == {*FLAGSHIP.prior, "oneway-degradation", "healthy"}
    known = {scenario.key: knowledge.assemble(scenario, asked[0]) for scenario in (FLAGSHIP, more)}
    assert [one.id for one in known["other"].causes] == list(more.prior)
    assert all(set(step.cells) == {*FLAGSHIP.prior, "healthy"} for step in known[KEY].steps)
    assert {step.step for step in known["other"].steps} == set(OTHER_STEPS)


def test_an_incident_can_be_calibrated_while_another_of_its_table_still_lacks_runs(fill):
    fill(OTHER)
    made = calibrate.calibrate(OTHER, now=NOW)
    assert knowledge.lacking(OTHER, made) == []
    with pytest.raises(BankIncomplete, match="has no run of job under throttled-rank"):
        calibrate.calibrate(FLAGSHIP, now=NOW)


def test_a_run_of_another_incident_that_nothing_is_compared_with_yet_is_left_out(fill, lab):
    fill(OTHER)
    made = calibrate.calibrate(OTHER, now=NOW)
    wanted = filling.wanted_runs(FLAGSHIP, 3, 2, "seed")
    job = next(one for one in wanted if str(one) == "throttled-rank 3 job")
    assert filling.fill([job], lab, lambda _: None).made == 1
    again = calibrate.calibrate(OTHER, now=NOW)
    assert (again.digest, again.runs["throttled-rank"]) == (made.digest, 1)


def test_a_cause_that_the_tables_lack_is_named_and_its_incident_is_not_ready():
    more = other(causes=(*OTHER.causes, ONEWAY))
    assert knowledge.is_calibrated(OTHER) and not knowledge.is_calibrated(more)
    with pytest.raises(BankIncomplete, match="has no runs of oneway-degradation, which other names; run: "):
        knowledge.knowledge_for(more)


def test_runs_outside_a_headline_are_counted_by_the_incident_that_tells_it():
    work = reports.useful_work({"degraded-link": [0.4, 0.5, 0.72]})["degraded-link"]
    assert [reports.outside(work, headline) for headline in ((0.45, 0.70), (0.3, 0.8))] == [2, 0]


def test_no_two_incidents_of_the_library_disagree_about_a_table():
    assert [text for one in library.every() for _, text in sharing.disagreements(one)] == []


def changed(index: int, **fields: object) -> Scenario:
    causes = list(FLAGSHIP.causes)
    causes[index] = causes[index].model_copy(update=fields)
    return FLAGSHIP.model_copy(update={"key": "other", "causes": tuple(causes)})


DIFFERENT = {
    "a range": (changed(0, params={"duty": (0.2, 0.3)}), 'params of cause "throttled-rank" is {duty: [0.2, 0.3]} here'),
    "places": (changed(0, places=("rank:1",)), 'places of cause "throttled-rank" is [rank:1] here and [rank:0, rank:1'),
    "a fault after a fix": (changed(6, under={}), 'cause "comparison-changed" under fix "add-gpus" is nothing here'),
    "the fabric": (
        FLAGSHIP.model_copy(update={"key": "other", "setting": FLAGSHIP.setting.model_copy(update={"in_turn": True})}),
        "in_turn: True",
    ),
    "what a fix sets": (
        other(fixes=(FLAGSHIP.fixes[0].model_copy(update={"job": {"overlap": False}}),)),
        'job of fix "drain-host" is {overlap: False} here and nothing in slow-all-reduce@1',
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_two_incidents_of_a_table_say_differently_is_told_with_both_sides(name):
    scenario, said = DIFFERENT[name]
    (text,) = [text for _, text in sharing.between(scenario, FLAGSHIP)]
    assert said in text and "in slow-all-reduce@1; scenarios of table leaf-spine-ddp share its runs" in text


def test_brief_prices_and_prior_may_differ():
    own = FLAGSHIP.model_copy(update={"key": "other", "brief": "Another.", "stop_weight": 0.5, "mfu_before": 0.3})
    assert list(sharing.between(own, FLAGSHIP)) == list(sharing.between(OTHER, FLAGSHIP)) == []


@pytest.fixture
def disagreeing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of the flagship and of a coming incident that draws a cause of the same table otherwise."""
    folder = tmp_path / "stragglers"
    folder.mkdir()
    text = library.file_of(KEY, 1).read_text()
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    (folder / f"{KEY}.yaml").write_text(text)
    file = folder / "other@1.yaml"
    file.write_text(text.replace(f"key: {KEY}", "key: other").replace("{duty: [0.224,", "{duty: [0.23,"))
    return file


@pytest.mark.parametrize("action", [("check",), ("bank",), ("calibrate",)])
def test_an_incident_that_disagrees_is_refused_by_file_and_line(disagreeing, action):
    line = next(at for at, text in enumerate(disagreeing.read_text().splitlines(), 1) if "duty" in text)
    asked = str(disagreeing) if action == ("check",) else "other@1"
    with pytest.raises(CommandError, match=rf'other@1.yaml:{line}: params of cause "throttled-rank"') as caught:
        call_command("scenario", *action, asked, stdout=io.StringIO(), stderr=io.StringIO())
    assert caught.value.returncode == 2


def test_an_incident_of_which_nothing_is_offered_yet_is_found_by_its_key_and_by_its_revision(disagreeing):
    assert (library.keys(), library.coming_keys(), library.coming("other")) == ([KEY], ["other"], [1])
    assert library.named("other") == library.named("other@1") == library.get("other", 1)
    assert library.is_coming(library.named("other")) and not library.is_coming(library.get(KEY))
    assert library.file_of("other", 1) == library.place_for(library.named("other")) == disagreeing
    with pytest.raises(ScenarioError, match="it is not offered yet; name a revision, like other@1"):
        library.get("other")
    with pytest.raises(ScenarioErrors):
        sharing.refuse_differences(disagreeing, library.named("other"))


def test_a_fault_that_changes_the_cables_of_two_hosts_is_named_by_either():
    scenario = library.named("one-rail-crawls@1")
    drawn = draws.draw_instance(scenario, scenario.cause("two-slow-hosts"), 0, "seed")
    at, apart = int(drawn.place.partition(":")[2]), int(drawn.params["apart"])
    for rank in (at, (at + apart) % 4):
        assert {f"rank:{rank}", f"host:{drawn.setting.placement[rank]}"} <= set(instances.accepted_places(drawn))
    assert len(instances.accepted_places(drawn)) == 4
