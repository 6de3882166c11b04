"""What the grader knows of a scenario: its file and its calibration, in the grader's own form."""

from __future__ import annotations

import functools

from gpu_worker.metrics import METRICS
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import Probe, variants
from grader.knowledge import (
    AcceptedValue,
    CauseKnowledge,
    Cell,
    EstimateKnowledge,
    FixKnowledge,
    Knowledge,
    MeasureKnowledge,
    MetricKnowledge,
    StepKnowledge,
)
from grader.tables import VariantTable
from grader.transcript import variant_id
from grader.units import parse_quantity
from scenarios import palette, tables_file
from scenarios.causes import CAUSES, HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.format import Estimate, Scenario
from scenarios.symptom import kind_of, variant_of
from scenarios.tables_file import Calibration

UNCALIBRATED = 0.001
SYMPTOM = "symptom"  # what transcripts cite evidence 0 as, of whatever kind it is


def knowledge_for(scenario: Scenario) -> Knowledge:
    """The grader's knowledge of a scenario. Raises BankIncomplete where its table is missing or lacks a cause."""
    path = tables_file.path_of(scenario.table)
    return build(scenario, tables_file.load(scenario.table), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def cached(scenario_json: str, table: str, mtime_ns: int) -> Knowledge:
    return assemble(Scenario.model_validate_json(scenario_json), tables_file.load(table))


def is_calibrated(scenario: Scenario) -> bool:
    """Whether its table holds every cause under every step that it offers; scenarios that share one may hold others."""
    try:
        return not lacking(scenario, tables_file.load(scenario.table))
    except BankIncomplete:
        return False


def lacking(scenario: Scenario, calibration: Calibration) -> list[str]:
    """The scenario's causes that some variant of its steps, or the symptom, has no cell of."""
    wanted = [*variants_of(scenario), variant_of(kind_of(scenario))]
    held = [table_of(calibration, variant).cells for variant in wanted]
    return [cause for cause in scenario.prior if not all(cause in cells for cells in held)]


def variants_of(scenario: Scenario) -> list[str]:
    """Every variant of every step that the scenario offers, by its id."""
    return [variant_id(id, with_) for id in scenario.steps for with_ in variants(PROBES[id])]


def build(scenario: Scenario, calibration: Calibration, mtime_ns: int) -> Knowledge:
    return cached(scenario.model_dump_json(), calibration.table, mtime_ns)


def assemble(scenario: Scenario, calibration: Calibration) -> Knowledge:
    """Scenario and calibration together. Pure. Raises BankIncomplete where the tables lack a cause or a step."""
    if never := lacking(scenario, calibration):
        said = f"the calibration of {calibration.table} has no runs of {', '.join(never)}, which {scenario.key} names"
        raise BankIncomplete(f"{said}; run: manage.py scenario calibrate KEY")
    return Knowledge(
        scenario=scenario.key,
        revision=scenario.revision,
        calibration=calibration.digest,
        track=scenario.track,
        causes=tuple(cause_knowledge(scenario)),
        steps=tuple(step_knowledge(scenario, calibration)),
        symptom=symptom_knowledge(scenario, calibration),
        fixes=tuple(
            FixKnowledge(
                id=fix.id,
                title=fix.title,
                takes_place=fix.takes_place is not None,
                effects=dict(fix.effects),
                changes_optimisation=fix.changes_optimisation,
                changes_job=bool(fix.job),
            )
            for fix in scenario.fixes
        ),
        measures=tuple(MeasureKnowledge(id=m.id, title=m.title, catches=m.catches) for m in scenario.measures),
        metrics=tuple(MetricKnowledge(id=m.id, title=m.title, unit=m.unit, worse=m.worse) for m in METRICS.values()),
        estimates=tuple(estimate_knowledge(estimate) for estimate in scenario.estimates),
        time_budget_min=scenario.time_budget_min,
        stop_weight=scenario.stop_weight,
        at_floor_from=scenario.at_floor_from,
        tempering=dict(calibration.tables.tempering),
    )


def cause_knowledge(scenario: Scenario) -> list[CauseKnowledge]:
    known = [(bound.id, CAUSES[bound.id]) for bound in scenario.causes]
    return [
        CauseKnowledge(
            id=id, family=cause.family, title=cause.title, prior=scenario.prior[id], place_kind=cause.place_kind
        )
        for id, cause in known
    ]


def step_knowledge(scenario: Scenario, calibration: Calibration) -> list[StepKnowledge]:
    """Every variant of every step that the scenario offers, in palette order."""
    offered = [id for id in palette.STEPS if id in scenario.steps]
    return [one_step(scenario, calibration, PROBES[id], with_) for id in offered for with_ in variants(PROBES[id])]


def one_step(scenario: Scenario, calibration: Calibration, probe: Probe, with_: dict[str, str]) -> StepKnowledge:
    table = table_of(calibration, variant_id(probe.id, with_))
    price = palette.STEPS[probe.id]
    return StepKnowledge.model_validate(
        {
            "step": probe.id,
            "with": with_,
            "title": probe.title,
            "experiment": table.experiment,
            "price_min": price.price_min,
            "stops_job": price.stops_job,
            "tells": probe.roles(with_),
            "findings": tuple(probe.findings),
            "sentences": dict(probe.findings),
            "cells": with_findings(
                {**cells_of(scenario, table), **pair_cells(scenario, calibration, variant_id(probe.id, with_))},
                tuple(probe.findings),
            ),
        }
    )


def with_findings(cells: dict[str, Cell], findings: tuple[str, ...]) -> dict[str, Cell]:
    """The cells with a little mass for findings that the probe has learnt since its calibration.

    The same for every cause, and bounded by nothing: until the next calibration such a finding tells nothing.
    """
    return {cause: _with_new(cell, [f for f in findings if f not in cell.p]) for cause, cell in cells.items()}


def _with_new(cell: Cell, new: list[str]) -> Cell:
    rest = 1 - UNCALIBRATED * len(new)
    p = {**{finding: p * rest for finding, p in cell.p.items()}, **dict.fromkeys(new, UNCALIBRATED)}
    return cell.model_copy(update={"p": p, "upper": {**cell.upper, **dict.fromkeys(new, 1.0)}}) if new else cell


def symptom_knowledge(scenario: Scenario, calibration: Calibration) -> StepKnowledge:
    kind = kind_of(scenario)
    table = table_of(calibration, variant_of(kind))
    return StepKnowledge(
        step=SYMPTOM,
        title=kind.title,
        experiment=table.experiment,
        price_min=0,
        findings=tuple(kind.findings),
        sentences=dict(kind.findings),
        cells={**cells_of(scenario, table), **pair_cells(scenario, calibration, variant_of(kind))},
    )


def table_of(calibration: Calibration, variant: str) -> VariantTable:
    if variant not in calibration.tables.variants:
        raise BankIncomplete(
            f"the calibration of {calibration.table} lacks {variant}; run: manage.py scenario calibrate KEY"
        )
    return calibration.tables.variants[variant]


def cells_of(scenario: Scenario, table: VariantTable) -> dict[str, Cell]:
    """Cells of the scenario's causes and of healthy runs; the table may hold more."""
    wanted = [*(bound.id for bound in scenario.causes), HEALTHY]
    return {cause: table.cells[cause] for cause in wanted if cause in table.cells}


def pair_cells(scenario: Scenario, calibration: Calibration, variant: str) -> dict[str, Cell]:
    """Cells of the pairs that a curveball may combine, by `a+b`, as far as they were run."""
    if calibration.pairs is None or variant not in calibration.pairs.variants:
        return {}
    cells = calibration.pairs.variants[variant].cells
    return {pair.id: cells[pair.id] for pair in scenario.pairs if pair.id in cells}


def estimate_knowledge(estimate: Estimate) -> EstimateKnowledge:
    return EstimateKnowledge(
        quantity=estimate.quantity,
        scale=estimate.scale,
        kind=estimate.kind,
        accepted=tuple(
            AcceptedValue(value=parse_quantity(one.value, estimate.kind), assuming=one.assuming)
            for one in estimate.accepted
        ),
    )
