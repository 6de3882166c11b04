"""From banked runs to observations: every probe's decisive readings and finding on every run. Pure over the bank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpu_worker import symptom
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import ProbeResult, variants
from gpu_worker.specs import WholeRun
from grader.tables import Rule
from grader.transcript import variant_id
from scenarios import library, palette
from scenarios.instances import Instance
from scenarios.tables_file import SYMPTOM_VARIANT, Observation


def steps_of(table: str) -> list[str]:
    """The steps that the table knows: those that its scenarios offer, in palette order."""
    wanted = {step for key in library.keys() if (one := library.get(key)).table == table for step in one.steps}
    return [id for id in palette.offered() if id in wanted]


def rules(table: str) -> dict[str, Rule]:
    """How each variant's readings become a finding, the symptom's among them."""
    found = {variant_id(id, with_): rule_of(PROBES[id]) for id in steps_of(table) for with_ in variants(PROBES[id])}
    return {**found, SYMPTOM_VARIANT: rule_of(symptom.SYMPTOM)}


def rule_of(probe: Any) -> Rule:
    return Rule(
        decisive=tuple((one.reading, one.scale) for one in probe.decisive),
        classify=probe.classify,
        findings=tuple(probe.findings),
        deterministic=probe.deterministic,
    )


def observations(instance: Instance, runs: Mapping[str, WholeRun], baseline: WholeRun | None) -> Iterator[Observation]:
    """What every variant reads of an instance's runs (by experiment key), and the symptom where there is a baseline."""
    for id in steps_of(instance.table):
        probe = PROBES[id]
        for with_ in variants(probe):
            experiment = probe.experiment(with_)
            if experiment in runs:
                result = probe.read(runs[experiment], with_)
                yield observation(instance, probe, variant_id(id, with_), experiment, result)
    if baseline is not None and "job" in runs:
        result = symptom.read(runs["job"], baseline)
        yield observation(instance, symptom.SYMPTOM, SYMPTOM_VARIANT, "job", result)


def observation(instance: Instance, probe: Any, variant: str, experiment: str, result: ProbeResult) -> Observation:
    values = {one.reading: float(result.readings[one.reading].value) for one in probe.decisive}
    return Observation(
        instance=instance.id,
        cause=instance.cause,
        experiment=experiment,
        variant=variant,
        readings=values,
        finding=probe.classify(values),
    )


def as_rows(observed: list[Observation]) -> list[dict[str, Any]]:
    """Observations in the form that `grader.tables.build` takes; a run is one experiment of one instance."""
    return [{**one.model_dump(exclude={"instance"}), "run_id": f"{one.instance} {one.experiment}"} for one in observed]
