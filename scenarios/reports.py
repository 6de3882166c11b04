"""What a calibration is worth: slowdowns, runs behind a cell, fits, held-out log-loss, false findings, first steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np

from grader.index import index_of
from grader.inference import Belief, expected_gains, no_evidence
from scenarios import fix_matrix
from scenarios.causes import HEALTHY
from scenarios.format import Scenario
from scenarios.knowledge import assemble
from scenarios.tables_file import Calibration


def of_table(calibration: Calibration) -> dict[str, Any]:
    """What the tables are worth whichever scenario reads them, JSON-ready; stored with them."""
    return {
        "variants": {name: variant_report(calibration, name) for name in sorted(calibration.tables.variants)},
        "tempering": dict(calibration.tables.tempering),
    }


def of_scenario(scenario: Scenario, calibration: Calibration) -> dict[str, Any]:
    """What they are worth to one scenario, with its causes, prices and fixes: first steps, the symptom, the fixes."""
    return {
        "first_steps": first_steps(scenario, calibration),
        "symptom_bits": symptom_bits(scenario, calibration),
        "fixes": [{**asdict(cell), "measured": cell.measured} for cell in fix_matrix.measured_cells(scenario)],
    }


def useful_work(ratios: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    """Useful work a second against healthy, by cause: every run's share, lowest first, and what they come to."""
    return {
        cause: {
            "median": round(median(values), 3),
            "lowest": round(min(values), 3),
            "highest": round(max(values), 3),
            "runs": len(values),
            "shares": sorted(round(value, 3) for value in values),
        }
        for cause, values in sorted(ratios.items())
    }


def outside(work: Mapping[str, Any], headline: tuple[float, float]) -> int:
    """How many runs of a cause lie outside the range that a brief tells of."""
    low, high = headline
    if "shares" not in work:  # of before several scenarios shared a table: counted by the one range that there was
        return int(work["outside_headline"])
    return sum(not low <= share <= high for share in work["shares"])


def variant_report(calibration: Calibration, variant: str) -> dict[str, Any]:
    """One variant: by cause what was seen and what the cell rests on; how often healthy runs give a false finding."""
    table = calibration.tables.variants[variant]
    return {
        "experiment": table.experiment,
        "log_loss_bits": round(table.log_loss_bits, 3),
        "healthy_false_rate": table.healthy_false_rate,
        "healthy_inconclusive_rate": table.healthy_inconclusive_rate,
        "causes": {
            cause: {
                "seen": report.seen,
                "runs": report.runs,
                "own_runs": report.own_runs,
                "pool": list(report.pool),
                "basis": report.basis,
                "fit_p": None if report.fit_p is None else round(report.fit_p, 3),
                "log_loss_bits": round(report.log_loss_bits, 3),
            }
            for cause, report in sorted(table.report.items())
        },
    }


def first_steps(scenario: Scenario, calibration: Calibration) -> list[dict[str, Any]]:
    """Expected bits about the cause of each possible first step, before and after the symptom, and a priced minute."""
    index = index_of(assemble(scenario, calibration))
    bare = expected_gains(no_evidence(index))
    rows = [
        {
            "step": variant,
            "minutes": float(index.minutes[row]),
            "bits": round(float(bare[row]), 3),
            "bits_a_minute": round(float(bare[row]) / max(float(index.minutes[row]), 0.5), 4),
            "after_symptom": {
                finding: round(float(gains[row]) / max(float(index.minutes[row]), 0.5), 4)
                for finding, gains in gains_by_symptom(index).items()
            },
        }
        for row, variant in enumerate(index.variants)
    ]
    return sorted(rows, key=lambda one: -one["bits_a_minute"])


def gains_by_symptom(index: Any) -> dict[str, Any]:
    start: Belief = no_evidence(index)
    row = index.symptom_row
    return {finding: expected_gains(start.after(row, finding)) for finding in index.finding_of[row]}


def symptom_bits(scenario: Scenario, calibration: Calibration) -> float:
    """What the symptom tells about the cause: expected bits, under the declared prior; one at most is wanted."""
    index = index_of(assemble(scenario, calibration))
    p = index.p[index.symptom_row, :-1, :]
    prior = index.priors[0][:-1] / index.priors[0][:-1].sum()
    joint = prior[:, None] * p
    mixed = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.nansum(joint * np.log2(np.where(joint > 0, p / mixed[None, :], 1.0)))
    return round(float(bits), 3)


def runs_line(calibration: Calibration) -> str:
    causes = ", ".join(f"{cause} {count}" for cause, count in calibration.runs.items() if cause != HEALTHY)
    return f"{causes}; healthy {calibration.runs.get(HEALTHY, 0)}"
