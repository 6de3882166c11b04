"""From banked runs to observations: every probe's decisive readings and finding on every run. Pure over the bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpu_worker.probes.base import ProbeResult
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.base import SymptomKind
from grader.tables import Rule
from grader.transcript import variant_id
from scenarios import offered
from scenarios.instances import Instance
from scenarios.symptom import kinds_of, variant_of
from scenarios.tables_file import Observation

Before = Callable[[SymptomKind], WholeRun | None]


def rules(table: str) -> dict[str, Rule]:
    """How each variant's readings become a finding, the symptom's among them."""
    found = {variant_id(probe.id, with_): rule_of(probe) for probe, with_ in offered.variants_of(table)}
    return {**found, **{variant_of(kind): rule_of(kind) for kind in kinds_of(table)}}


def rule_of(probe: Any) -> Rule:
    return Rule(
        decisive=tuple((one.reading, one.scale) for one in probe.decisive),
        classify=probe.classify,
        findings=tuple(probe.findings),
        deterministic=probe.deterministic,
    )


def observations(instance: Instance, runs: Mapping[str, WholeRun], before: Before) -> Iterator[Observation]:
    """What every variant reads of an instance's runs (by experiment key), and each symptom that there is a run for.

    `before` gives the healthy run that a symptom's is compared with; None where there is none.
    """
    for probe, with_ in offered.variants_of(instance.table):
        experiment = probe.experiment(with_)
        if experiment in runs:
            result = probe.read(runs[experiment], with_)
            yield observation(instance, probe, variant_id(probe.id, with_), experiment, result)
    for kind in kinds_of(instance.table):
        if kind.experiment in runs and (healthy := before(kind)) is not None:
            result = kind.read(runs[kind.experiment], healthy)
            yield observation(instance, kind, variant_of(kind), kind.experiment, result)


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
