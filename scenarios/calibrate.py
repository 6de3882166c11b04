"""From the bank to a calibration: observations, tables by the grader, and the reports that say what they are worth."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from gpu_worker import symptom
from gpu_worker.specs import WholeRun
from grader import tables as grader_tables
from scenarios import bank, observe, reports, tables_file
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.format import Scenario
from scenarios.instances import Instance
from scenarios.tables_file import Calibration, Observation

CLASS_FIELDS = ("cores", "kernel", "backend", "torch", "machine")


def calibrate(scenario: Scenario, *, now: datetime) -> Calibration:
    """The calibration of a scenario's table from the complete instances of its bank.

    Raises BankIncomplete where a cause of the scenario, or healthy, has no complete instance.
    """
    banked = bank.complete_instances(scenario.table)
    refuse_gaps(scenario, banked)
    observed, slowdowns, classes = observe_all(banked)
    built = grader_tables.build(observe.as_rows(observed), observe.rules(scenario.table))
    calibration = Calibration(
        table=scenario.table,
        digest=tables_file.digest_of(built),
        made_on=now.strftime("%Y-%m-%d"),
        machine_class=one_class(classes),
        runs=dict(sorted(Counter(instance.cause for instance in banked).items())),
        tables=built,
        reports={"useful_work": reports.useful_work(slowdowns)},
        observations=sorted(observed, key=lambda one: (one.variant, one.cause, one.instance)),
    )
    return calibration.model_copy(update={"reports": {**calibration.reports, **reports.of(scenario, calibration)}})


def refuse_gaps(scenario: Scenario, banked: list[Instance]) -> None:
    have = {instance.cause for instance in banked}
    lacking = [cause for cause in (HEALTHY, *(bound.id for bound in scenario.causes)) if cause not in have]
    if lacking:
        raise BankIncomplete(f"the bank of {scenario.table} has no complete instance of {', '.join(lacking)}")


def observe_all(banked: list[Instance]) -> tuple[list[Observation], dict[str, list[float]], list[dict[str, Any]]]:
    """Observations, useful work against the healthy run before (by cause), and the machine class of every run."""
    observed: list[Observation] = []
    work: dict[str, list[float]] = {}
    classes: list[dict[str, Any]] = []
    for instance in banked:
        runs = {key: bank.whole_run(instance.table, instance.id, key) for key in bank.EXPERIMENTS}
        classes += [{name: run.provenance.get(name) for name in CLASS_FIELDS} for run in runs.values()]
        if instance.is_healthy:
            observed += observe.observations(instance, runs, runs["job"])
            continue
        before = bank.baseline(instance.table, instance)
        observed += observe.observations(instance, runs, before)
        observed += before_as_healthy(instance, before)
        work.setdefault(instance.cause, []).append(work_ratio(runs["job"], before))
    return observed, work, classes


def before_as_healthy(instance: Instance, before: WholeRun) -> list[Observation]:
    """The healthy run before an incident is one more healthy run of the job."""
    healthy = instance.model_copy(update={"id": f"{instance.id} before", "cause": HEALTHY, "place": None, "params": {}})
    return list(observe.observations(healthy, {"job": before}, before))


def work_ratio(run: WholeRun, before: WholeRun) -> float:
    """Useful work a second, now over before."""
    readings = symptom.read(run, before).readings
    return float(readings["mfu_now"].value) / float(readings["mfu_before"].value)


def one_class(classes: list[dict[str, Any]]) -> dict[str, Any]:
    """The class of machine that most runs come from, and how many come from another: tables belong to one class."""
    texts = Counter(tuple(sorted(one.items())) for one in classes)
    (usual, _), *others = texts.most_common()
    return {**dict(usual), "runs_of_another_class": sum(count for _, count in others)}
