"""P(finding | cause) as calibration stores it: cells, and what each number rests on.

The building itself is in `grader.calibration`, imported only when something is built: SciPy's statistics take more
memory than all the pages together, and a page only reads tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from grader.knowledge import Cell


class TableError(ValueError):
    """Observations or rules that do not fit together; the message names both."""


@dataclass(frozen=True)
class Rule:
    """How one variant's readings become a finding. `decisive`: (reading, scale) pairs; `classify` takes readings."""

    decisive: tuple[tuple[str, str], ...]
    classify: Callable[[Mapping[str, float]], str]
    findings: tuple[str, ...]
    deterministic: bool = False


class CellReport(BaseModel):
    """What a cell rests on. `log_loss_bits`: mean −log₂ P(finding) over the cause's runs, each left out in turn."""

    model_config = ConfigDict(extra="forbid")
    own_runs: int
    runs: int
    pool: tuple[str, ...]
    basis: str
    fit_p: float | None = None
    why_counts: str = ""
    log_loss_bits: float
    seen: dict[str, int]


class VariantTable(BaseModel):
    """One step variant: its cells by cause, and the report behind them."""

    model_config = ConfigDict(extra="forbid")
    experiment: str
    findings: tuple[str, ...]
    deterministic: bool
    cells: dict[str, Cell]
    report: dict[str, CellReport]
    healthy_finding: str | None = Field(default=None, description="the finding that most healthy runs give")
    healthy_false_rate: float | None = Field(
        default=None, description="share of healthy runs with another conclusive finding"
    )
    healthy_inconclusive_rate: float | None = None
    log_loss_bits: float


class Tables(BaseModel):
    """Calibration of one family of incidents. JSON-ready; `digest` pins it."""

    model_config = ConfigDict(extra="forbid")
    variants: dict[str, VariantTable]
    tempering: dict[str, float] = Field(description="by experiment, see Knowledge.tempering")
    tempering_log_loss_bits: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="by experiment: held-out loss of the cause in bits, by tempering tried"
    )

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


def build(
    observations: Iterable[Mapping[str, Any]],
    rules: Mapping[str, Rule],
    untouched: Mapping[str, Sequence[str]] | None = None,
) -> Tables:
    """Tables from observations `{cause, run_id, experiment, variant, readings, finding}` and a Rule a variant.

    `untouched`: by variant, causes that cannot change what it reads and have no runs of their own; healthy runs, each
    counted once, are what they show too.

    Raises TableError where an observation names an unknown variant, lacks a decisive reading, or holds a finding that
    its rule does not list.
    """
    from grader.calibration import build_tables

    return build_tables(observations, rules, untouched or {})
