"""A run that is gone is judged by its readings, as long as the sources that made them are the same."""

from __future__ import annotations

import pytest

from gpu_worker.errors import BadSpec
from gpu_worker.matrix import digest, readings
from gpu_worker.matrix.command import PAGE, READINGS, RunMatrix
from gpu_worker.matrix.readings import Taken, entry_of, load, save
from gpu_worker.matrix.store import Failed
from gpu_worker.matrix.trials import in_launch, launches, pairs
from tests.gpu_worker.matrix.test_matrix import SLOW, measured

ID = SLOW.id
STEP = "per-rank-step-times"


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """A matrix of one fault, taken in two launches and written down."""
    monkeypatch.setattr("gpu_worker.matrix.command.FAULTS", {ID: SLOW})
    matrix = RunMatrix([], 2, tmp_path / "runs", tmp_path)
    for spec in launches(pairs([SLOW]), 2):
        matrix.store.keep(digest.digest(spec), measured(spec))
    matrix.write_docs()
    return matrix


def elsewhere(tmp_path, runs=2):
    """The same matrix on a machine that has the documentation and no run."""
    return RunMatrix([], runs, tmp_path / "nothing", tmp_path)


def test_the_readings_give_the_verdict_that_the_runs_gave(whole, tmp_path):
    again = elsewhere(tmp_path).judge()
    assert again.faults[0].separated == whole.judge().faults[0].separated == 2
    assert again.faults[0].shows[0].effect == pytest.approx(whole.judge().faults[0].shows[0].effect, rel=1e-3)
    assert again.healthy == whole.judge().healthy


def test_a_run_whose_readings_are_known_is_not_taken_again(whole, tmp_path):
    assert elsewhere(tmp_path)._known() == {digest.digest(spec) for spec in launches(pairs([SLOW]), 2)}


def test_another_launch_is_taken_and_joins_the_file(whole, tmp_path):
    more = elsewhere(tmp_path, runs=3)
    third = [in_launch(spec, 2) for spec in launches(pairs([SLOW]), 1)]
    assert not {digest.digest(spec) for spec in third} & more._known()
    for spec in third:
        more.store.keep(digest.digest(spec), measured(spec))
    more.write_docs()
    assert elsewhere(tmp_path, runs=3).judge().faults[0].runs == 3
    elsewhere(tmp_path, runs=1).write_docs()
    assert len(load(tmp_path / READINGS)) == 6, "fewer launches must not forget the others"
    assert "(6 runs)" in (tmp_path / PAGE).read_text()


def test_a_probe_that_changed_asks_for_its_runs_again(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "probe_digest", lambda step: "other")
    assert elsewhere(tmp_path)._known() == set()
    assert elsewhere(tmp_path).judge().faults[0].runs == 0


def test_a_fault_that_changed_forgets_its_readings_when_written(whole, tmp_path, monkeypatch):
    before = set(load(tmp_path / READINGS))
    monkeypatch.setattr("gpu_worker.matrix.command.digest", lambda spec: f"new{digest.digest(spec)}")
    elsewhere(tmp_path).write_docs()
    assert before and not load(tmp_path / READINGS)


def test_a_failed_run_is_remembered_with_its_reason(tmp_path):
    save(tmp_path / READINGS, {"a": entry_of(Failed("FaultDidNotFire", "no trace"), 0, "here")})
    entry = load(tmp_path / READINGS)["a"]
    assert entry.taken() == Failed("FaultDidNotFire", "no trace") and entry.serves([STEP])


def test_what_a_probe_cannot_read_is_remembered_as_that():
    entry = readings.Entry(on="here", launch=0, by={STEP: digest.probe_digest(STEP)}, read={STEP: None})
    with pytest.raises(readings.Unreadable):
        entry.taken().decisive(STEP)
    assert Taken().decisive(STEP) is None


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / READINGS).write_bytes(b"half a fi")
    with pytest.raises(BadSpec, match=READINGS):
        elsewhere(tmp_path)
