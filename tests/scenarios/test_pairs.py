"""Two causes at once, for a curveball: drawn, filled, calibrated and cured one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import ExperimentSpec, WholeRun
from scenarios import bank, calibrate, draws, filling, fixes, instances, library, offered, tables_file
from scenarios.format import Pair, Scenario
from scenarios.instances import baseline_spec, spec_for
from scenarios.knowledge import assemble

FLAGSHIP = library.get("slow-all-reduce", 1)  # seven causes are enough, and soon filled
PAIR = Pair(causes=("throttled-rank", "degraded-link"), debrief="One hides the other.")
SCENARIO = FLAGSHIP.model_copy(update={"pairs": (PAIR,)})
MICRO = offered.FIRST[1]


@pytest.fixture(scope="module")
def measured() -> dict[str, WholeRun]:
    """One really measured run of each experiment."""
    healthy = next(one for one in bank.complete_instances(FLAGSHIP) if one.is_healthy)
    return {key: bank.whole_run(FLAGSHIP.table, healthy.id, key) for key in offered.experiments_of(FLAGSHIP.table)}


@pytest.fixture
def lab(measured: dict[str, WholeRun]) -> Callable[[ExperimentSpec], WholeRun]:
    return lambda spec: measured[spec.key].model_copy(update={"spec": spec})


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab: Callable[[ExperimentSpec], WholeRun]) -> Scenario:
    """A bank with every run of one instance a cause, and of two instances of the pair."""
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    filling.fill(filling.wanted_runs(SCENARIO, 2, 2, "seed"), lab, lambda _: None)
    filling.fill(filling.wanted_pairs(SCENARIO, 2, "seed"), lab, lambda _: None)
    return SCENARIO


def drawn(number: int = 0) -> instances.Instance:
    return draws.draw_pair(SCENARIO, PAIR, number, "seed")


def test_a_pair_is_named_alike_whichever_cause_comes_first():
    assert PAIR.id == "degraded-link+throttled-rank" == Pair(causes=PAIR.causes[::-1], debrief="x").id


def test_a_pair_holds_what_each_of_its_causes_holds_alone():
    both = drawn()
    alone = [draws.draw_instance(SCENARIO, SCENARIO.cause(cause), 0, "seed") for cause in sorted(PAIR.causes)]
    assert [(one.cause, one.place, one.params, one.instance) for one in both.drawn] == [
        (one.cause, one.place, one.params, one.id) for one in alone
    ]
    assert {both.setting.model_dump_json()} == {one.setting.model_dump_json() for one in alone}
    assert both == drawn() and both.id not in {one.id for one in alone}


def test_the_lab_is_asked_for_both_faults_and_for_what_each_repair_leaves():
    both = drawn()
    faults = {
        state: [fault.cause for fault in spec_for(both, "job", state).faults]
        for state in ("nothing", "cures:degraded-link", "cures:throttled-rank", "cures")
    }
    assert faults == {
        "nothing": ["degraded-link", "throttled-rank"],
        "cures:degraded-link": ["throttled-rank"],
        "cures:throttled-rank": ["degraded-link"],
        "cures": [],
    }
    plan_run(spec_for(both, "job"))
    assert not baseline_spec(both).faults


def test_a_fault_of_two_that_cannot_touch_an_experiment_is_left_out():
    packed = "microbenchmark[placement=packed,size=job]"
    assert [fault.cause for fault in spec_for(drawn(), packed).faults] == ["throttled-rank"]


def test_fixes_cure_one_cause_after_the_other():
    both = drawn()
    link, rank = both.drawn
    host = next(place for place in instances.places_of(both, rank) if place.startswith("host:"))
    replace, drain = ("replace-link", link.place), ("drain-host", host)
    assert fixes.effect(SCENARIO, both, *replace) == "mitigates"
    assert fixes.left_behind(SCENARIO, both, [replace]) == "cures:degraded-link"
    assert fixes.left_behind(SCENARIO, both, [replace, ("restart-job", None)]) == "cures:degraded-link"
    assert fixes.left_behind(SCENARIO, both, [replace, drain]) == "cures"
    assert fixes.left_behind(SCENARIO, both, [("reboot-switches", None)]) == "nothing"


def test_filling_a_pair_takes_what_cannot_be_touched_from_its_healthy_twin(tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    wanted = filling.wanted_pairs(SCENARIO, 1, "seed")
    slots = [one.slot for one in wanted if one.instance.pair]
    assert ("nothing", "job") in slots and ("nothing", MICRO) in slots
    assert ("cures:degraded-link", "job") in slots and ("cures:throttled-rank", MICRO) in slots
    assert ("before", "job") not in slots or not any(one.instance.is_healthy for one in wanted)
    assert all(bool(one.spec.faults) == (one.what != "before") for one in wanted if one.instance.pair)
    assert len({(one.instance.id, one.slot) for one in wanted}) == len(wanted)


def test_a_filled_pair_is_whole_and_answers_in_every_state(filled):
    whole = [one for one in bank.complete_instances(filled) if one.pair]
    assert len(whole) == 2
    assert not any(one.pair for one in bank.complete_instances(FLAGSHIP)), "it combines none"
    one = whole[0]
    for state in ("nothing", *one.halves, "cures"):
        faults = [fault.cause for fault in bank.whole_run(one.table, one.id, "job", state).spec.faults]
        assert faults == [fault.cause for fault in spec_for(one, "job", state).faults]
    packed = "microbenchmark[placement=packed,size=job]"
    assert bank.whole_run(one.table, one.id, packed, "cures:degraded-link").spec.faults[0].cause == "throttled-rank"
    assert bank.whole_run(one.table, one.id, packed, "cures:throttled-rank").spec.faults == ()
    assert filling.wanted_pairs(filled, 2, "seed") == []


def test_attempts_never_draw_a_pair_and_a_curveball_finds_the_one_that_extends_them(filled):
    causes = {instances.draw(filled, seed=seed).cause for seed in range(60)}
    assert causes == set(filled.prior)
    first = next(one for one in bank.complete_instances(FLAGSHIP) if one.cause == "degraded-link")
    joined = bank.extending(filled, first.id, "throttled-rank")
    assert joined is not None and joined.setting == first.setting
    assert joined.drawn[0].place == first.place and joined.drawn[0].params == first.params
    assert bank.extending(filled, first.id, "no-overlap") is None


def test_calibration_has_tables_of_pairs_apart_from_those_of_single_causes(filled):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with_pairs = calibrate.calibrate(filled, now=now)
    assert calibrate.calibrate(FLAGSHIP, now=now) == with_pairs, "a table is the same whichever scenario asks"
    for one in bank.heads(filled.table):
        if one.instance.pair:
            bank.path_of(filled.table, one.instance.id).unlink()
    without = calibrate.calibrate(FLAGSHIP, now=now)
    assert without.pairs is None and with_pairs.pairs is not None
    assert with_pairs.tables == without.tables
    assert with_pairs.digest != without.digest == tables_file.digest_of(without.tables)
    assert '"pairs"' not in tables_file.text_of(without)
    for table in with_pairs.pairs.variants.values():
        assert set(table.cells) == {PAIR.id, "healthy"}
    knowledge = assemble(filled, with_pairs)
    for step in (*knowledge.steps, knowledge.symptom):
        assert set(step.cells) == {*filled.prior, "healthy", PAIR.id}
    assert all(PAIR.id not in step.cells for step in assemble(FLAGSHIP, with_pairs).steps)


def test_two_faults_that_change_the_same_thing_are_refused_when_the_file_is_checked(tmp_path):
    file = tmp_path / "slow-all-reduce.yaml"
    text = library.path_of("slow-all-reduce").read_text()
    pairs = "pairs:\n  - causes: [throttled-rank, degraded-link]\n    debrief: Both.\n"
    file.write_text(text.replace("fixes:\n", f"{pairs}fixes:\n"))
    assert library.load(file).pairs[0].id == PAIR.id
    file.write_text(text.replace("fixes:\n", pairs.replace("degraded-link", "degraded-lnk") + "fixes:\n"))
    with pytest.raises(Exception, match='pair names cause "degraded-lnk", which the scenario has not; did you mean'):
        library.load(file)
