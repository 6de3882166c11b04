"""What the grader knows about a scenario: the one contract between `scenarios` and `grader`.

`scenarios` builds a `Knowledge` from the scenario file and its calibration; the grader reads nothing else.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from grader.alerts import Trial

HEALTHY = "healthy"  # a pseudo-cause: baselines and cured runs
OTHER = "other"  # a surprise: what no table describes
INCONCLUSIVE = "inconclusive"

Effect = Literal["cures", "mitigates", "nothing", "harms"]
Basis = Literal["counts", "fit", "deterministic"]
EstimateName = Literal[
    "collective-floor", "bytes-on-the-wire", "fraction-of-floor",
    "checkpoint-bytes", "save-time", "save-interval", "lost-work", "samples-by-step",
]  # fmt: skip
EstimateKind = Literal["time", "data", "ratio", "count"]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Cell(Frozen):
    """P(finding | cause) for one step variant, with what it rests on."""

    p: dict[str, float] = Field(description="probability of each finding; sums to 1")
    upper: dict[str, float] = Field(description="one-sided upper 95 % bound of each probability")
    runs: int = Field(description="runs behind the cell, after pooling")
    own_runs: int = Field(description="runs of this cause alone")
    pool: tuple[str, ...] = Field(
        description="the causes that share this cell because the probe cannot tell them apart"
    )
    basis: Basis


class StepKnowledge(Frozen):
    """One step variant: a palette step together with its chosen parameters."""

    step: str
    with_: dict[str, str] = Field(default_factory=dict, alias="with")
    title: str
    experiment: str = Field(description="steps that read the same experiment are not independent")
    price_min: float
    stops_job: bool = False
    tells: tuple[str, ...] = Field(
        default=(),
        description="roles a rubric may credit: straggler, bisect, link, placement, overlap, library, change, "
        "checkpoint, generation, replay",
    )
    findings: tuple[str, ...]
    sentences: dict[str, str] = Field(default_factory=dict, description="a plain sentence for each finding")
    cells: dict[str, Cell] = Field(description="by cause id; includes `healthy`, which is no cause of the scenario")


class CauseKnowledge(Frozen):
    id: str
    family: str
    title: str
    prior: float
    place_kind: Literal["rank", "host", "link", "none"]


class FixKnowledge(Frozen):
    id: str
    title: str
    takes_place: bool
    effects: dict[str, Effect] = Field(description="by cause id; a cause left out: nothing")
    changes_optimisation: bool = False
    changes_job: bool = Field(default=False, description="it sets something of the job, whatever the cause")


class MeasureKnowledge(Frozen):
    id: str
    title: str
    catches: tuple[str, ...] = Field(description="ids of the causes that this measure would have shown")


class MetricKnowledge(Frozen):
    """A metric that an alert may watch, with recorded histories to try it on."""

    id: str
    title: str
    unit: str
    worse: Literal["higher", "lower"]
    trials: tuple[Trial, ...] = Field(default=(), description="empty where nobody wrote an alert on it")


class AcceptedValue(Frozen):
    value: float = Field(description="SI: seconds, bytes, bits/s, or a plain ratio")
    assuming: str = Field(default="", description="the assumption under which this value is right")


class EstimateKnowledge(Frozen):
    quantity: EstimateName
    scale: Literal["production", "lab"]
    kind: EstimateKind
    accepted: tuple[AcceptedValue, ...] = Field(
        description="may be empty where the value depends on the attempt (fraction-of-floor): then its `truths`"
    )


class Knowledge(Frozen):
    """Everything the grader needs to score one attempt of one scenario revision."""

    scenario: str
    revision: int
    calibration: str = Field(description="digest of the tables")
    track: str
    causes: tuple[CauseKnowledge, ...]
    steps: tuple[StepKnowledge, ...] = Field(description="every variant that the scenario offers")
    symptom: StepKnowledge = Field(description="evidence 0: the symptom in the brief, with its own table")
    fixes: tuple[FixKnowledge, ...]
    measures: tuple[MeasureKnowledge, ...]
    metrics: tuple[MetricKnowledge, ...] = Field(default=(), description="what alerts may watch; none: none is judged")
    estimates: tuple[EstimateKnowledge, ...]
    time_budget_min: float
    stop_weight: float = Field(
        default=1.0, description="what a minute counts for which the job must stop; 1: as much as any other minute"
    )
    at_floor_from: float = Field(
        default=0.85, description="fraction of the floor from which a collective counts as at its floor"
    )
    tempering: dict[str, float] = Field(
        default_factory=dict,
        description="by experiment: how far further readings of one run count as independent, 0 to 1; absent: 0.5",
    )
