"""How far several readings of one run may be multiplied.

For one experiment and one cause let the readings' log likelihoods be l₁ … l_k. The joint likelihood of dependent
readings lies between the rarest one alone (all say the same) and their product (independent). So:

    log L = min l + ρ · (sum l − min l)

with ρ in [0, 1] chosen for each experiment from the calibration runs themselves: the ρ under which the cause of
held-out runs is predicted best. Configuration reads are certain given the cause, so they are multiplied in full;
across experiments everything is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from grader.knowledge import HEALTHY

if TYPE_CHECKING:
    from grader.tables import VariantTable

DEFAULT_TEMPERING = 0.5
AS_GOOD_BITS = 0.01
TRIED = (0.0, 0.25, 0.5, 0.75, 1.0)

# variant -> cause -> (run ids, findings, leave-one-out P as (runs, findings))
Runs = Mapping[str, Mapping[str, tuple[Sequence[str], Sequence[str], np.ndarray]]]


def choose_tempering(
    variants: Mapping[str, VariantTable], runs: Runs
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """ρ by experiment, and the held-out loss of the cause in bits under each ρ tried."""
    chosen: dict[str, float] = {}
    losses: dict[str, dict[str, float]] = {}
    for experiment in sorted({table.experiment for table in variants.values()}):
        names = [v for v, table in variants.items() if table.experiment == experiment and not table.deterministic]
        if len(names) < 2:
            continue
        rows = _joint_log_likelihoods({name: variants[name] for name in names}, runs)
        if not rows:
            continue
        loss = {rho: _loss(rows, rho) for rho in TRIED}
        # The most cautious ρ that predicts about as well as the best: over-counting is the costlier mistake.
        chosen[experiment] = next(rho for rho in TRIED if loss[rho] <= min(loss.values()) + AS_GOOD_BITS)
        losses[experiment] = {f"{rho:g}": value for rho, value in loss.items()}
    return chosen, losses


def _joint_log_likelihoods(tables: Mapping[str, VariantTable], runs: Runs) -> list[tuple[int, np.ndarray]]:
    """For each run: (index of its cause, log likelihoods as (readings, causes)), with its own cell held out."""
    causes = sorted({c for table in tables.values() for c in table.cells if c != HEALTHY})
    readings: dict[tuple[str, str], list[np.ndarray]] = {}
    for variant, table in tables.items():
        for cause, (run_ids, seen, held_out) in runs[variant].items():
            for row, (run_id, finding) in enumerate(zip(run_ids, seen, strict=True)):
                likelihood = [table.cells[c].p[finding] if c in table.cells else np.nan for c in causes]
                if cause in causes:
                    likelihood[causes.index(cause)] = held_out[row, table.findings.index(finding)]
                readings.setdefault((cause, run_id), []).append(np.log(np.maximum(likelihood, 1e-9)))
    return [
        (causes.index(cause), np.array(rows))
        for (cause, _), rows in readings.items()
        if cause in causes and len(rows) > 1 and not np.isnan(rows).any()
    ]


def _loss(rows: Sequence[tuple[int, np.ndarray]], rho: float) -> float:
    total = 0.0
    for own, logs in rows:
        least = logs.min(axis=0)
        joint = least + rho * (logs.sum(axis=0) - least)
        total -= joint[own] - np.logaddexp.reduce(joint)
    return float(total / len(rows) / np.log(2))
