"""Evidence 0: the symptom in the brief, measured from the instance's banked run and a healthy one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpu_worker.probes.base import ProbeResult
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import SYMPTOMS, slow_collective
from gpu_worker.symptoms.base import SymptomKind
from scenarios import bank, library
from scenarios.format import Scenario
from scenarios.instances import CURES, NOTHING, Instance, State
from scenarios.offered import JOB
from scenarios.tables_file import SYMPTOM_VARIANT


@dataclass(frozen=True)
class SymptomView:
    """What the brief prints. `numbers` in SI units, shares and ratios plain. The finding stays hidden.

    `fraction_of_floor` is that of the job's collective, whatever the brief is about: the truth of a verdict on it.
    """

    numbers: dict[str, float]
    readings: list[dict[str, Any]]
    finding: str
    fraction_of_floor: float


def symptom(scenario: Scenario, instance: Instance) -> SymptomView:
    """The measured symptom of an instance. Raises BankIncomplete where its runs are not banked."""
    kind = kind_of(scenario)
    result = kind.read(*runs_of(instance, kind), scenario.mfu_before)
    job = slow_collective.read(*runs_of(instance, slow_collective.SYMPTOM))
    shown = [name for name, _ in kind.shown.values() if name in result.readings]
    return SymptomView(
        numbers={name: float(result.readings[name].value) for name in shown},
        readings=[one_reading(result, name) for name in shown],
        finding=kind.finding(result),
        fraction_of_floor=float(job.readings["collective_floor_ratio"].value),
    )


def kind_of(scenario: Scenario) -> SymptomKind:
    return SYMPTOMS[scenario.symptom]


def kinds_of(table: str) -> Iterator[SymptomKind]:
    """The symptoms of the table's scenarios, each once."""
    yield from (SYMPTOMS[id] for id in sorted({one.symptom for one in library.every() if one.table == table}))


def variant_of(kind: SymptomKind) -> str:
    """What tables call a symptom, as they call the variants of steps."""
    return SYMPTOM_VARIANT if kind.id == slow_collective.SYMPTOM.id else f"{SYMPTOM_VARIANT}[kind={kind.id}]"


def runs_of(instance: Instance, kind: SymptomKind, state: State = NOTHING) -> tuple[WholeRun, WholeRun]:
    """(the run in a state, the healthy one it is compared with). The job's is the one from before the incident, with
    the configuration of then; of other experiments it is the run of the same setting without the fault.

    Raises BankIncomplete where one is not banked.
    """
    run = bank.whole_run(instance.table, instance.id, kind.experiment, state)
    if kind.experiment == JOB:
        return run, bank.baseline(instance.table, instance)
    return run, bank.whole_run(instance.table, instance.id, kind.experiment, CURES)


def one_reading(result: ProbeResult, name: str) -> dict[str, Any]:
    reading = result.readings[name]
    return {"name": name, "label": reading.label, "value": reading.value, "unit": reading.unit}
