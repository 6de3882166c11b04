"""From the bank to a calibration: observations, tables by the grader, and the reports that say what they are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.base import SymptomKind
from grader import tables as grader_tables
from grader.tables import Tables
from grader.transcript import variant_id
from scenarios import bank, observe, offered, reports, tables_file
from scenarios.bank import BEFORE, Head
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.fix_matrix import work_ratio
from scenarios.format import Scenario
from scenarios.instances import NOTHING, Instance, is_shared
from scenarios.offered import JOB
from scenarios.symptom import kinds_of, runs_of, variant_of
from scenarios.tables_file import Calibration, Observation

CLASS_FIELDS = ("cores", "kernel", "backend", "torch", "machine")


def calibrate(scenario: Scenario, *, now: datetime) -> Calibration:
    """The calibration of a scenario's table from all runs of its bank, those of instances that are not whole included.

    Whichever of the table's scenarios asks, the tables are the same; what this one needs must be there.
    Raises BankIncomplete where an experiment has no run under a cause of the scenario that can touch it.
    """
    every = [one for one in bank.heads(scenario.table) if one.held]
    banked = [one for one in every if not one.instance.pair]
    untouched = untouched_by(scenario.table, banked)
    refuse_gaps(scenario, [HEALTHY, *scenario.prior], banked, untouched)
    observed, work, classes = observe_all(banked)
    built = grader_tables.build(
        observe.as_rows(observed), observe.rules(scenario.table), by_variant(scenario.table, untouched)
    )
    pairs = pair_tables(scenario, [one for one in every if one.instance.pair], observed)
    calibration = Calibration(
        table=scenario.table,
        digest=tables_file.digest_of(built, pairs),
        made_on=now.strftime("%Y-%m-%d"),
        machine_class=one_class(classes),
        runs=dict(sorted(Counter(one.instance.cause for one in banked).items())),
        tables=built,
        pairs=pairs,
        reports={"useful_work": reports.useful_work(work), "left": left_by_symptom(scenario.table, banked)},
        observations=sorted(observed, key=lambda one: (one.variant, one.cause, one.instance)),
    )
    return calibration.model_copy(update={"reports": {**calibration.reports, **reports.of_table(calibration)}})


def pair_tables(scenario: Scenario, banked: list[Head], single: list[Observation]) -> Tables | None:
    """Tables of two causes at once, apart from the others': runs of a pair must not move what a cause alone shows.

    None where no pair was run. Raises BankIncomplete where one of the scenario's lacks an experiment that it can touch.
    """
    if not banked:
        return None
    untouched = untouched_by(scenario.table, banked)
    ran = {one.instance.cause for one in banked}
    refuse_gaps(scenario, [pair.id for pair in scenario.pairs if pair.id in ran], banked, untouched)
    observed, _, _ = observe_all(banked)
    healthy = [one for one in single if one.cause == HEALTHY]
    alone = [one for one in observed if one.cause != HEALTHY]  # the healthy runs before are those of the single causes
    rows = observe.as_rows([*alone, *healthy])
    return grader_tables.build(rows, observe.rules(scenario.table), by_variant(scenario.table, untouched))


def untouched_by(table: str, banked: list[Head]) -> dict[str, list[str]]:
    """By experiment: causes without a run of their own, because the fault cannot touch it in some banked instance.

    It may in others (a rank behind a far leaf is packed there only where it is the first): once one of those has a run,
    the cause is told by that.
    """
    found: dict[str, list[str]] = {}
    for key in offered.experiments_of(table):
        measured = {one.instance.cause for one in banked if (NOTHING, key) in one.held}
        for cause in sorted({one.instance.cause for one in banked} - measured):
            if any(is_shared(one.instance, key) for one in banked if one.instance.cause == cause):
                found.setdefault(key, []).append(cause)
    return found


def by_variant(table: str, untouched: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same by variant, of experiments that a healthy instance of the table was run under: it stands for them."""
    ran = {key for one in bank.twins(table).values() for what, key in one.held if what == NOTHING}
    read = {variant_id(probe.id, with_): probe.experiment(with_) for probe, with_ in offered.variants_of(table)}
    read |= {variant_of(kind): kind.experiment for kind in kinds_of(table)}
    return {variant: untouched[key] for variant, key in read.items() if key in untouched and key in ran}


def refuse_gaps(scenario: Scenario, causes: list[str], banked: list[Head], untouched: dict[str, list[str]]) -> None:
    for key in offered.experiments_for(scenario):
        have = {one.instance.cause for one in banked if (NOTHING, key) in one.held} | set(untouched.get(key, ()))
        lacking = [cause for cause in causes if cause not in have]
        if lacking:
            raise BankIncomplete(f"the bank of {scenario.table} has no run of {key} under {', '.join(lacking)}")


def observe_all(banked: list[Head]) -> tuple[list[Observation], dict[str, list[float]], list[dict[str, Any]]]:
    """Observations, useful work against the healthy run before (by cause), and the machine class of every run."""
    observed: list[Observation] = []
    work: dict[str, list[float]] = {}
    classes: list[dict[str, Any]] = []
    for one in banked:
        instance = one.instance
        runs = {
            key: bank.load(instance.table, instance.id, (NOTHING, key)) for what, key in one.held if what == NOTHING
        }
        classes += [{name: run.provenance.get(name) for name in CLASS_FIELDS} for run in runs.values()]
        if (BEFORE, JOB) in one.held:
            observed += before_as_healthy(instance, bank.baseline(instance.table, instance))
        if not instance.is_healthy and JOB in runs and not bank.is_compared(one):
            continue
        observed += observe.observations(instance, runs, healthy_of(instance, runs))
        if not instance.is_healthy and JOB in runs:
            work.setdefault(instance.cause, []).append(work_ratio(runs[JOB], bank.baseline(instance.table, instance)))
    return observed, work, classes


def healthy_of(instance: Instance, runs: Mapping[str, WholeRun]) -> observe.Before:
    """The healthy run that a symptom's is compared with; a healthy instance's own is its own measure."""

    def before(kind: SymptomKind) -> WholeRun | None:
        if instance.is_healthy:
            return runs.get(kind.experiment)
        with suppress(BankIncomplete):
            return runs_of(instance, kind)[1]
        return None

    return before


def left_by_symptom(table: str, banked: list[Head]) -> dict[str, dict[str, list[float]]]:
    """By symptom and cause: what each banked instance leaves of the healthy run, as headlines are judged by."""
    found: dict[str, dict[str, list[float]]] = {}
    for kind in kinds_of(table):
        for one in banked:
            if not one.instance.is_healthy and (NOTHING, kind.experiment) in one.held:
                with suppress(BankIncomplete):
                    left = kind.left_of(*runs_of(one.instance, kind))
                    if left is not None:
                        found.setdefault(variant_of(kind), {}).setdefault(one.instance.cause, []).append(round(left, 3))
    return found


def before_as_healthy(instance: Instance, before: WholeRun) -> list[Observation]:
    """The healthy run before an incident is one more healthy run of the job."""
    healthy = instance.model_copy(update={"id": f"{instance.id} before", "cause": HEALTHY, "place": None, "params": {}})
    return list(observe.observations(healthy, {JOB: before}, lambda kind: before if kind.experiment == JOB else None))


def one_class(classes: list[dict[str, Any]]) -> dict[str, Any]:
    """The class of machine that most runs come from, and how many come from another: tables belong to one class."""
    texts = Counter(tuple(sorted(one.items())) for one in classes)
    (usual, _), *others = texts.most_common()
    return {**dict(usual), "runs_of_another_class": sum(count for _, count in others)}
