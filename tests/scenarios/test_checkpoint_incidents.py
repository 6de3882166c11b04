"""The incidents about saving and resuming, on one really measured run of each cause: filled, calibrated, told apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache

import pytest

from gpu_worker.specs import ExperimentSpec, WholeRun
from gpu_worker.symptoms import SYMPTOMS
from scenarios import bank, brief, calibrate, draws, filling, library, offered, reports, sharing, symptom
from scenarios.causes import HEALTHY
from scenarios.format import Scenario
from scenarios.instances import draw, is_shared
from scenarios.tables_file import Calibration
from tests.gpu_worker.probes import conftest as runs

TABLE = "save-and-resume"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
# What makes a save slow changes nothing of what comes back.
STALLS = {"gather-to-rank-0", "slow-storage", "slow-writer", "saves-too-often", "verified-by-every-rank"}


@cache
def measured(cause: str, key: str) -> WholeRun:
    """A run of the lab, with the setting that it was taken in."""
    cause = HEALTHY if key == "resume-replay" and cause in STALLS else cause
    return runs.load(runs.CHECKPOINTS / f"{cause}--{key}.json.gz")


@cache
def healthy_job(key: str) -> WholeRun:
    """A healthy run of an experiment that has nothing to do with checkpoints, out of the flagship's bank."""
    table = library.get("slow-all-reduce").table
    return bank.whole_run(table, next(iter(bank.twins(table).values())).instance.id, key)


def is_about_checkpoints(key: str) -> bool:
    return key.partition("[")[0] in ("save", "resume-replay", "storage-throughput")


def lab(spec: ExperimentSpec) -> WholeRun:
    if is_about_checkpoints(spec.key):
        return measured(spec.faults[0].cause if spec.faults else HEALTHY, spec.key)
    return healthy_job(spec.key)


def is_measured(incident: Scenario, cause: str) -> bool:
    """Whether a run of each experiment that the cause can touch is stored with the tests."""
    drawn = draws.draw_instance(incident, incident.cause(cause), 0, TABLE)
    touched = [key for key in offered.experiments_of(TABLE) if is_about_checkpoints(key) and not is_shared(drawn, key)]
    stored = [key for key in touched if key != "resume-replay" or cause not in STALLS]
    return all((runs.CHECKPOINTS / f"{cause}--{key}.json.gz").is_file() for key in stored)


def with_what_is_measured(incident: Scenario) -> Scenario:
    """The incident with those of its causes that there are runs of."""
    return incident.model_copy(update={"causes": tuple(c for c in incident.causes if is_measured(incident, c.id))})


WHOLE = library.of_table(TABLE)
INCIDENTS = [with_what_is_measured(one) for one in WHOLE]
EACH = pytest.mark.parametrize("incident", INCIDENTS, ids=lambda one: one.key)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Calibration]]:
    """A bank of one instance a cause, and what each incident's calibration makes of it."""
    for key in offered.experiments_of(TABLE):
        if not is_about_checkpoints(key):
            healthy_job(key)  # while the bank is still the real one
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bank, "FOLDER", tmp_path_factory.mktemp("bank"))
        for incident in INCIDENTS:
            done = filling.fill(filling.wanted_runs(incident, 1, 1, TABLE), lab, lambda line: None)
            assert done.given_up == []
        yield {one.key: calibrate.calibrate(one, now=NOW) for one in INCIDENTS}


def readings_of(calibration: Calibration, incident: Scenario) -> dict[str, dict[str, str]]:
    """By cause: the finding of every variant; where the fault touches nothing, that of healthy runs."""
    seen: dict[str, dict[str, str]] = {cause: {} for cause in (*incident.prior, HEALTHY)}
    for one in calibration.observations:
        if one.cause in seen:
            seen[one.cause][one.variant] = one.finding
    return {cause: {**seen[HEALTHY], **own} for cause, own in seen.items()}


def test_there_are_five_on_one_table_and_each_has_five_causes_or_more():
    assert len(WHOLE) == 5
    assert all(len(one.causes) >= 5 for one in WHOLE)
    assert all(len(one.causes) >= 2 for one in INCIDENTS), "too little is measured to tell anything"


@EACH
def test_they_agree_on_what_a_run_of_their_table_is(incident):
    assert list(sharing.disagreements(incident)) == []
    assert incident.steps == INCIDENTS[0].steps


@EACH
def test_no_two_causes_read_alike_on_every_step(filled, incident):
    found = readings_of(filled[incident.key], incident)
    alike = [pair for pair in itertools.combinations(incident.prior, 2) if found[pair[0]] == found[pair[1]]]
    assert alike == []


@EACH
def test_a_cause_is_told_from_a_sound_checkpoint(filled, incident):
    found = readings_of(filled[incident.key], incident)
    assert [cause for cause in incident.prior if found[cause] == found[HEALTHY]] == []


@EACH
def test_every_cause_leaves_what_the_headline_says(filled, incident):
    if incident.headline is None:
        return
    low, high = incident.headline
    variant = symptom.variant_of(SYMPTOMS[incident.symptom])
    left = filled[incident.key].reports["left"][variant]
    outside = {cause: left[cause] for cause in incident.prior if not all(low <= share <= high for share in left[cause])}
    assert outside == {}


@EACH
def test_the_brief_is_filled_with_the_instance_s_own_numbers(filled, incident):
    for seed in range(8):
        view = symptom.symptom(incident, draw(incident, seed=seed))
        text = brief.fill(incident.brief, view.numbers)
        assert "{" not in text and "–" not in text


@EACH
def test_the_symptom_tells_at_most_one_bit(filled, incident):
    assert reports.symptom_bits(incident, filled[incident.key]) <= 1.0


@EACH
def test_a_cure_leaves_all_of_what_was_healthy(filled, incident):
    found = reports.of_scenario(incident, filled[incident.key])["fixes"]
    cells = [cell for cell in found if cell["declared"] == "cures"]
    assert SYMPTOMS[incident.symptom].left is None or cells
    assert [cell for cell in cells if cell["measured"] != "cures"] == []
