"""The matrix runs what is missing, judges what is stored, and writes it down. On runs made by hand."""

from __future__ import annotations

import dataclasses

import pytest

from gpu_worker.errors import BadSpec, FaultDidNotFire, RunDisturbed
from gpu_worker.faults import FAULTS
from gpu_worker.matrix import digest, judge, table
from gpu_worker.matrix.readings import Taken
from gpu_worker.matrix.store import Failed, Store
from gpu_worker.matrix.take import take_missing
from gpu_worker.matrix.trials import in_launch, launches, pairs, spec_for
from gpu_worker.specs import ExperimentSpec, Setting, WholeRun
from tests.gpu_worker.probes.conftest import made_job

SLOW = dataclasses.replace(FAULTS["throttled-rank"], shows=("per-rank-step-times",), spares=("input-timings",))
RUNS = 20


def measured(spec: ExperimentSpec) -> WholeRun:
    """Rank 1 computes at a third of its pace where the spec throttles it."""
    slow = {1: {"forward_s": 0.4, "backward_s": 0.9}} if spec.faults else {}
    return made_job(spec=spec, slow=slow)


def judged(kind=SLOW, runs=RUNS, experiment=measured) -> judge.Matrix:
    wanted = pairs([kind])
    taken = {spec.model_dump_json(): as_taken(experiment(spec)) for spec in launches(wanted, runs)}
    return judge.judge([kind.id], wanted, runs, lambda spec: taken.get(spec.model_dump_json()))


def as_taken(found: WholeRun | Failed) -> Taken | Failed:
    return found if isinstance(found, Failed) else Taken(found)


def test_a_fault_that_shows_and_spares_as_declared_holds():
    (fault,) = judged().faults
    assert fault.holds and (fault.separated, fault.runs) == (RUNS, RUNS)
    assert fault.shows[0].effect == pytest.approx(0.42 / 1.3, rel=0.1)
    assert all(cell.held == RUNS for cell in fault.spares)


def test_two_launches_of_twenty_without_separation_are_too_many():
    def sometimes(spec):
        return measured(spec if spec.setting.seed >= 2 else spec.model_copy(update={"faults": ()}))

    (fault,) = judged(experiment=sometimes).faults
    assert fault.separated == 18 and not fault.holds


def test_a_step_that_should_be_spared_and_is_not_fails_its_fault():
    accusing = dataclasses.replace(SLOW, spares=("per-rank-step-times",))
    (fault,) = judged(accusing).faults
    assert fault.separated == RUNS and not fault.spares[0].holds and not fault.holds


def test_a_fault_that_declares_nothing_is_reported_and_does_not_hold():
    silent = dataclasses.replace(SLOW, shows=())
    matrix = judged(silent)
    assert not matrix.holds
    assert table.as_json(matrix)["not_declared"] == ["throttled-rank"]
    assert "not declared" in table.lines(matrix)[0]


def test_a_fault_that_did_not_fire_counts_as_not_shown():
    def dead(spec):
        return Failed("FaultDidNotFire", "no trace") if spec.faults and spec.setting.seed < 2 else measured(spec)

    (fault,) = judged(experiment=dead).faults
    assert fault.separated == 18 and not fault.holds
    assert fault.shows[0].faulted.failures == ("no trace", "no trace")


def test_false_findings_of_healthy_runs_are_pooled_over_all_measuring_probes():
    def nervous(spec):
        healthy_slip = not spec.faults and spec.setting.seed == 3
        return made_job(spec=spec, slow={2: {"input_s": 0.9}}) if healthy_slip else measured(spec)

    healthy = judged(experiment=nervous).healthy
    assert healthy.readings == RUNS * len(judge.measuring_variants("job"))
    assert {"per-rank-step-times", "input-timings"} <= set(healthy.false)
    assert not healthy.holds
    assert judged().healthy.holds


def test_nothing_that_was_not_run_holds():
    matrix = judge.judge([SLOW.id], pairs([SLOW]), RUNS, lambda spec: None)
    assert not matrix.holds
    assert "not run" in table.lines(matrix)[0]


def test_a_matrix_goes_on_where_it_was_interrupted(tmp_path):
    wanted, store, calls = launches(pairs([SLOW]), 3), Store(tmp_path), []

    def interrupted(spec):
        calls.append(spec)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measured(spec)

    with pytest.raises(KeyboardInterrupt):
        take_missing(wanted, store, interrupted)
    take_missing(wanted, store, interrupted)
    assert len(calls) == len(wanted) + 1
    assert take_missing(wanted, store, interrupted) == [] and len(calls) == len(wanted) + 1


def test_a_fault_that_did_not_fire_is_kept_and_a_disturbed_run_is_tried_again(tmp_path):
    store, faulted = Store(tmp_path), next(spec for spec in launches(pairs([SLOW]), 1) if spec.faults)

    def disturbed(spec):
        raise RunDisturbed("other processes took 40% of the processors during the run")

    def dead(spec):
        raise FaultDidNotFire("no trace")

    assert [told.why for told in take_missing([faulted], store, disturbed)] != []
    assert not store.has(digest.digest(faulted))
    assert take_missing([faulted], store, dead) == []
    assert store.get(digest.digest(faulted)) == Failed("FaultDidNotFire", "no trace")


def test_a_damaged_file_is_no_run(tmp_path):
    store, spec = Store(tmp_path), launches(pairs([SLOW]), 1)[0]
    store.keep("a", measured(spec))
    (tmp_path / "a.json.gz").write_bytes(b"half a fi")
    assert store.get("a") is None


def test_runs_that_nothing_asks_for_are_forgotten(tmp_path):
    store, spec = Store(tmp_path), launches(pairs([SLOW]), 1)[0]
    for name in ("a", "b"):
        store.keep(name, measured(spec))
    assert store.forget_all_but({"b"}) == 1
    assert store.get("a") is None and store.get("b") is not None


def test_a_run_depends_on_its_spec_and_on_the_sources_of_its_fault_and_job(monkeypatch):
    healthy, faulted = launches(pairs([SLOW]), 1)
    assert digest.digest(healthy) != digest.digest(faulted) != digest.digest(in_launch(faulted, 1))
    assert "gpu_worker.faults.throttled_rank" in digest.sources(faulted) - digest.sources(healthy)
    assert {"gpu_worker.injectors.stop_continue", "gpu_worker.jobs.buckets"} <= digest.sources(faulted)
    before = digest.digest(faulted)
    monkeypatch.setattr(digest, "_source_of", lambda module: b"changed")
    assert digest.digest(faulted) != before


def test_every_declared_pair_of_every_fault_can_be_planned():
    for pair in pairs(FAULTS.values()):
        assert digest.digest(pair.faulted) != digest.digest(pair.healthy)


@pytest.mark.parametrize(
    ("variant", "said"),
    [("gossip", "no probe 'gossip'"), ("link-rates", "takes scope"), ("link-rates[scope=some]", "scope must be")],
)
def test_a_declared_step_that_does_not_exist_is_refused(variant, said):
    with pytest.raises(BadSpec, match=said):
        spec_for(variant, Setting())


def test_the_page_names_every_fault_its_steps_and_the_healthy_runs():
    page = table.page(judged(), RUNS, {"a, 2 cores": 40})
    assert "a, 2 cores (40 runs)." in page
    assert "| `throttled-rank` | `per-rank-step-times` | worst_compute_score |" in page
    assert f"separates in {RUNS} of {RUNS}" in page and "0.00 % false findings" in page
