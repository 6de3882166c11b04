"""Filling the bank: causes take turns, every run is saved at once, what is there is not run again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpu_worker.errors import FaultDidNotFire, LabUnavailable, RunDisturbed, RunFailed
from gpu_worker.specs import ExperimentSpec, WholeRun
from scenarios import bank, calibrate, filling, library, offered
from scenarios.errors import BankIncomplete

FLAGSHIP = library.get("slow-all-reduce")
CAUSES = ["healthy", *FLAGSHIP.prior]
EXPERIMENTS = offered.experiments_of(FLAGSHIP.table)


@pytest.fixture(scope="module")
def measured() -> dict[str, WholeRun]:
    """One really measured run of each experiment."""
    healthy = next(one for one in bank.complete_instances(FLAGSHIP) if one.is_healthy)
    return {key: bank.whole_run(FLAGSHIP.table, healthy.id, key) for key in EXPERIMENTS}


@pytest.fixture
def empty_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def lab(measured: dict[str, WholeRun]) -> Callable[[ExperimentSpec], WholeRun]:
    return lambda spec: measured[spec.key].model_copy(update={"spec": spec})


def plan(runs: int = 1, whole: int = 1) -> list[filling.Wanted]:
    return filling.wanted_runs(FLAGSHIP, runs, whole, "seed")


def quiet(_: str) -> None:
    pass


def of(wanted: list[filling.Wanted], cause: str, number: int = 1) -> list[tuple[str, str]]:
    return [one.slot for one in wanted if (one.instance.cause, one.number) == (cause, number)]


def test_what_every_instance_has_comes_first_and_causes_take_turns(empty_bank):
    wanted = plan(2)
    jobs = [(one.number, one.instance.cause) for one in wanted if one.slot == ("nothing", "job")]
    assert jobs[: 2 * len(CAUSES)] == [(number, cause) for number in (1, 2) for cause in CAUSES]
    assert {one.number for one in wanted if one.instance.cause == "healthy"} == set(range(1, filling.LEAST_HEALTHY + 1))
    told = [one.experiment for one in wanted if one.what in ("nothing", "before")]
    stages = ["first" if key in offered.FIRST else "rest" for key in told]
    assert stages == sorted(stages)


def test_a_run_that_is_the_same_for_several_is_made_once_for_their_healthy_twin(empty_bank):
    wanted = plan(2)
    assert len({(one.instance.id, one.slot) for one in wanted}) == len(wanted)
    alone = {key for what, key in of(wanted, "no-overlap") if what == "nothing"}
    assert "job" in alone and not any(key.startswith(("microbenchmark", "pairwise", "save")) for key in alone)
    assert ("before", "job") in of(wanted, "healthy", 2) and ("before", "job") not in of(wanted, "healthy", 3)
    assert ("nothing", "microbenchmark[placement=as-job,size=small]") in of(wanted, "degraded-link")
    assert ("nothing", "microbenchmark[placement=packed,size=job]") not in of(wanted, "degraded-link")


def test_only_the_first_instances_get_every_run(empty_bank):
    wanted = plan(2, whole=1)
    faulted = [sum(what == "nothing" for what, _ in of(wanted, "throttled-rank", number)) for number in (1, 2)]
    assert faulted == [len(EXPERIMENTS), len(offered.FIRST)]


def test_an_experiment_that_is_asked_for_is_run_for_every_instance(empty_bank):
    wanted = filling.wanted_runs(FLAGSHIP, 3, 1, "seed", also=["synthetic-batch"])
    numbers = Counter(one.instance.cause for one in wanted if one.slot == ("nothing", "synthetic-batch"))
    assert {numbers[cause] for cause in FLAGSHIP.prior} == {3}
    assert {one.experiment for one in wanted} == set(EXPERIMENTS)


def test_each_run_has_its_spec(empty_bank):
    for one in plan():
        faulted = bool(one.spec.faults)
        assert faulted == (one.instance.cause != "healthy")
        assert one.spec.key == one.experiment


def test_a_filling_that_is_interrupted_is_resumed_where_it_was(empty_bank, lab):
    asked: list[str] = []

    def dies_after_three(spec: ExperimentSpec) -> WholeRun:
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(spec.key)
        return lab(spec)

    whole = plan()
    with pytest.raises(KeyboardInterrupt):
        filling.fill(whole, dies_after_three, quiet)
    left = plan()
    assert len(left) == len(whole) - 3
    assert left[0].experiment == whole[3].experiment
    filled = filling.fill(left, lab, quiet)
    assert (filled.made, filled.left, filled.given_up) == (len(left), 0, [])
    assert plan() == []
    assert {one.cause for one in bank.complete_instances(FLAGSHIP)} == set(CAUSES)


def test_a_disturbed_run_is_repeated_and_given_up_after_three(empty_bank, lab):
    seen: list[str] = []

    def disturbed(spec: ExperimentSpec) -> WholeRun:
        seen.append(spec.key)
        if spec.key == "job":
            raise RunDisturbed("other processes took 20 %")
        return lab(spec)

    job, micro = (next(one for one in plan() if one.experiment == key) for key in EXPERIMENTS[:2])
    filled = filling.fill([job, micro], disturbed, quiet)
    assert seen == ["job"] * 3 + [EXPERIMENTS[1]]
    assert (filled.made, filled.given_up) == (1, ["healthy 1 job: other processes took 20 %"])


@pytest.mark.parametrize(("error", "tries"), [(FaultDidNotFire, 3), (RunFailed, 1)])
def test_a_run_that_fails_is_reported_and_the_rest_goes_on(empty_bank, lab, error, tries):
    seen: list[int] = []

    def fails(spec: ExperimentSpec) -> WholeRun:
        seen.append(1)
        raise error("for a reason")

    filled = filling.fill(plan()[:1], fails, quiet)
    assert (len(seen), filled.made, filled.left) == (tries, 0, 0)


def test_without_a_lab_nothing_is_tried_further(empty_bank):
    def none(spec: ExperimentSpec) -> WholeRun:
        raise LabUnavailable("no namespaces here")

    with pytest.raises(LabUnavailable):
        filling.fill(plan(), none, quiet)


def test_a_sitting_may_be_bounded(empty_bank, lab):
    assert filling.fill(plan(), lab, quiet, for_s=-1).made == 0


def test_each_line_says_what_was_run_and_what_is_left(empty_bank, lab):
    lines: list[str] = []
    filling.fill(plan()[:2], lab, lines.append)
    assert lines[0].startswith("[1/2] healthy 1 job: ")
    assert lines[0].endswith(" left")


def test_the_same_content_gives_the_same_bytes(empty_bank, lab):
    filling.fill(plan()[:1], lab, quiet)
    (file,) = bank.files(FLAGSHIP.table)
    before = file.read_bytes()
    bank.write(file, bank.read(file))
    assert file.read_bytes() == before


def test_attempts_draw_of_whole_instances_and_calibration_reads_the_others_too(empty_bank, lab):
    assert filling.fill(plan(3, whole=1), lab, quiet).given_up == []
    whole = Counter(one.cause for one in bank.complete_instances(FLAGSHIP))
    assert (whole["healthy"], whole["degraded-link"], whole["throttled-rank"]) == (1, 1, 1)
    made = calibrate.calibrate(FLAGSHIP, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert made.runs == {"healthy": filling.LEAST_HEALTHY, **dict.fromkeys(FLAGSHIP.prior, 3)}
    packed = made.tables.variants["microbenchmark[placement=packed,size=job]"].cells
    assert (packed["degraded-link"].own_runs, packed["degraded-link"].runs) == (0, packed["healthy"].runs)
    assert all({*FLAGSHIP.prior, "healthy"} <= table.cells.keys() for table in made.tables.variants.values())


def test_a_shared_run_answers_for_each_of_its_instances(empty_bank, lab):
    filling.fill(plan(), lab, quiet)
    one = next(one for one in bank.complete_instances(FLAGSHIP) if one.cause == "no-overlap")
    shared = bank.whole_run(FLAGSHIP.table, one.id, "microbenchmark[placement=as-job,size=job]")
    assert shared.spec.setting == one.setting and not shared.spec.faults
    assert bank.whole_run(FLAGSHIP.table, one.id, "job").spec.faults
    assert bank.baseline(FLAGSHIP.table, one).spec.setting.job == one.setting.baseline_job
    assert not bank.whole_run(FLAGSHIP.table, one.id, "job", "cures").spec.faults


def test_calibration_names_what_the_bank_lacks(empty_bank, lab):
    filling.fill([one for one in plan() if one.experiment in offered.FIRST], lab, quiet)
    with pytest.raises(BankIncomplete, match="has no run of microbenchmark"):
        calibrate.calibrate(FLAGSHIP, now=datetime(2026, 1, 1, tzinfo=UTC))


def test_the_plan_says_how_many_runs_of_each_kind_and_how_long(empty_bank):
    lines = filling.plan_lines(plan(2))
    jobs = filling.LEAST_HEALTHY + 2 * len(FLAGSHIP.prior)
    assert re.fullmatch(rf"job: {jobs} runs, \d+ min", lines[0])
    assert lines[-1].startswith(f"in all {len(plan(2))} runs, ")
