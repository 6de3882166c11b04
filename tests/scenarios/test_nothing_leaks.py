"""What a candidate sees follows from the stored readings, never from the cause."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta

import pytest

from gpu_worker.experiments import nominal_s
from gpu_worker.models import Answer, Evidence, Run
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from gpu_worker.serving import queue
from gpu_worker.specs import Fault, WholeRun
from scenarios import bank, evidence, offered
from scenarios.evidence_view import build_view

pytestmark = pytest.mark.django_db

TABLE = "leaf-spine-ddp"  # the one whose runs are banked
EVERY_VARIANT = [(id, with_) for id in offered.steps_of(TABLE) for with_ in variants(PROBES[id])]
HIDDEN_KEYS = {"faults", "fired", "cause", "place", "instance", "finding", "setup_s", "wall_s", "taken_by"}


def as_json(view) -> str:
    return json.dumps(asdict(view), sort_keys=True, ensure_ascii=False)


def shown(step: str, with_: dict, now: datetime) -> Evidence:
    return Evidence(
        owner="ada", purpose="step", step=step, with_params=with_, experiment=PROBES[step].experiment(with_),
        live=False, requested_at=now, ready_at=now, shown_at=now, table="t", bank_instance="i",
    )  # fmt: skip


def bearing(run: WholeRun, cause: str, place: str | None, params: dict) -> WholeRun:
    """The same readings as if another cause had been injected."""
    fault = Fault(cause=cause, place=place, params=params)
    return run.model_copy(
        update={
            "spec": run.spec.model_copy(update={"faults": (fault,)}),
            "fired": {cause: {"proof": 1}},
            "provenance": {**run.provenance, "setup_s": 9.0, "wall_s": 99.0, "taken_at": "2020-01-01T00:00:00+00:00"},
        }
    )


@pytest.mark.parametrize(("step", "with_"), EVERY_VARIANT)
def test_the_same_readings_give_the_same_bytes_whatever_cause_they_bear(step, with_, banked, now):
    row = shown(step, with_, now)
    for instance in banked.values():
        run = bank.whole_run(instance.table, instance.id, row.experiment)
        views = {
            as_json(build_view(row, bearing(run, other.cause, other.place, other.params))) for other in banked.values()
        }
        assert len(views) == 1


@pytest.mark.parametrize(("step", "with_"), EVERY_VARIANT)
def test_a_view_holds_no_hidden_field_and_no_faulted_parameter(step, with_, banked, now):
    row = shown(step, with_, now)
    for instance in banked.values():
        run = bank.whole_run(instance.table, instance.id, row.experiment)
        view = build_view(row, run)
        assert not HIDDEN_KEYS & set(view.provenance)
        told = {str(value) for value in view.provenance.values()}
        assert instance.id not in json.dumps(asdict(view))
        # A count such as 4 samples is also the number of ranks; it is the name that must not stand there.
        assert not told & {f"{value:g}" for value in instance.params.values() if value != int(value) or value > 99}
        assert not {"samples", "duty", "rate", "bytes_per_s", "microbatch", "placement"} & set(view.provenance)


@pytest.mark.parametrize(("step", "with_"), EVERY_VARIANT)
def test_everything_but_the_readings_is_alike_under_every_cause(step, with_, banked, now):
    row = shown(step, with_, now)
    bare = set()
    for instance in banked.values():
        run = bank.whole_run(instance.table, instance.id, row.experiment)
        view = replace(build_view(row, run), readings=[], series={}, figure={})
        bare.add(as_json(view))
    assert len(bare) == 1


def test_waits_labels_and_progress_do_not_depend_on_how_long_the_runs_really_took(banked, now, lab_is_live):
    """Two candidates with the same clicks: one whose runs end early, one whose runs end at the last moment."""
    seen = {}
    for owner, took in (("quick", 0.2), ("slow", 0.99)):
        lab_is_live(now)
        instance = banked["no-overlap"]
        evidence.open_for(owner, instance, now=now)
        end = now
        for experiment in offered.FIRST:
            run = queue.claim(end, worker="w")
            end += timedelta(seconds=took * nominal_s(experiment))
            queue.finish(run, bank.whole_run(instance.table, instance.id, experiment), end)
        chosen_at = now + timedelta(seconds=26)
        lab_is_live(chosen_at)
        packed = {"size": "small", "placement": "packed"}
        rows = [
            evidence.request(owner, instance, "per-rank-step-times", {}, now=chosen_at),
            evidence.request(owner, instance, "microbenchmark", packed, now=chosen_at),
        ]
        seen[owner] = [(row.live, row.ready_at, evidence.progress(row, now=chosen_at)) for row in rows]
        Evidence.objects.all().delete()
        Answer.objects.all().delete()
        Run.objects.all().delete()
    assert seen["quick"] == seen["slow"]


def test_ids_are_random(banked):
    ids = [instance.id for instance in banked.values()]
    assert all(len(id) == 32 and id[12] == "4" for id in ids)
