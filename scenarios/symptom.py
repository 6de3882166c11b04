"""Evidence 0: the symptom in the brief, measured from the instance's banked run and its healthy baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_worker import symptom as measured
from gpu_worker.probes.base import ProbeResult
from scenarios import bank
from scenarios.format import Scenario
from scenarios.instances import Instance


@dataclass(frozen=True)
class SymptomView:
    """What the brief prints. `numbers` in SI units, shares and ratios plain. The finding stays hidden."""

    numbers: dict[str, float]
    readings: list[dict[str, Any]]
    finding: str
    fraction_of_floor: float


def symptom(scenario: Scenario, instance: Instance) -> SymptomView:
    """The measured symptom of an instance. Raises BankIncomplete where its runs are not banked."""
    job = bank.whole_run(instance.table, instance.id, "job")
    result = measured.read(job, bank.baseline(instance.table, instance), scenario.mfu_before)
    return SymptomView(
        numbers=numbers_of(result),
        readings=[one_reading(result, name) for name in measured.SHOWN],
        finding=measured.SYMPTOM.finding(result),
        fraction_of_floor=float(result.readings["collective_floor_ratio"].value),
    )


def numbers_of(result: ProbeResult) -> dict[str, float]:
    """The shown readings by name, with the work done now as a share of before."""
    numbers = {name: float(result.readings[name].value) for name in measured.SHOWN}
    return {**numbers, "work_ratio": numbers["mfu_now"] / numbers["mfu_before"]}


def one_reading(result: ProbeResult, name: str) -> dict[str, Any]:
    reading = result.readings[name]
    return {"name": name, "label": reading.label, "value": reading.value, "unit": reading.unit}
