"""What the grader returns: named values, each with its reason."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CriterionScore(Frozen):
    """`weight` is the share of the total after the weights of criteria that do not apply were shared out;
    `rubric_weight` the one that the rubric gives it."""

    title: str
    score: float
    weight: float
    rubric_weight: float | None = None
    applicable: bool
    events: tuple[int, ...] = Field(description="indices of the events that earned or lost it")
    why: str


class StepScore(Frozen):
    """One step taken, and the best one at that moment. Bits: expected, about the causes still alive then."""

    event: int
    step: str
    title: str
    finding: str
    finding_sentence: str
    gain_bits: float
    minutes: float
    best_step: str | None = Field(description="None: nothing more could be learnt")
    best_title: str
    best_gain_bits: float
    counted: bool = Field(description="it brought evidence: before any fix, within the budget, not settled before")


class Belief(Frozen):
    """The posterior from `event` on; −1 is the symptom."""

    event: int
    title: str
    posterior: dict[str, float]
    entailed: tuple[str, ...] = Field(description="causes that the readings in hand exclude")


class RuledOut(Frozen):
    """One claim. `status`: entailed, not yet, contradicted, by the readings in hand when it was made."""

    event: int
    cause: str
    title: str
    status: str
    cited: tuple[str, ...]
    excluded_by: tuple[str, ...]
    restored: bool


class PredictionScore(Frozen):
    event: int
    step: str
    score: float


class AlertScore(Frozen):
    """One alert on recorded runs: how often it detected `cause`, how soon (median), and how often for nothing."""

    event: int
    metric: str
    threshold: float
    direction: str
    window: int
    share: float
    cause: str
    detected: int
    tried: int
    delay_points: float | None
    delay_s: float | None
    false_alarms: int
    false_alarms_per_1000: float


class Named(Frozen):
    """The last diagnosis: what was named, how surely, and whether the hidden cause was among it (None: unknown)."""

    event: int
    causes: tuple[str, ...]
    confidence: float | None
    right: bool | None


class Ignored(Frozen):
    """An event of a kind that this grader does not know: kept in the log, without part in the score."""

    event: int
    kind: str


class Verification(Frozen):
    """`held`: the finding looks more like a healthy run than like any cause; None where it cannot tell."""

    event: int
    step: str
    against: tuple[str, ...]
    finding: str
    held: bool | None


class BestStep(Frozen):
    step: str
    title: str
    finding: str
    minutes: float
    gain_bits: float
    certainty: float


class Dimension(Frozen):
    score: float | None
    word: str
    criteria: tuple[str, ...]


class Scorecard(Frozen):
    """The score of one attempt. `level` is None: one attempt has none. Fields with a default came later: a scorecard
    that was kept before reads as it was."""

    scenario: str
    revision: int
    calibration: str
    track: str = ""
    rubric: str
    rubric_revision: int = 1
    total: float
    before_hints: float
    hint_cost: float
    cap: float | None = Field(default=None, description="what the total was held to; None: nothing held it")
    criteria: dict[str, CriterionScore]
    labels: tuple[str, ...]
    label_reasons: dict[str, str]
    conditions: dict[str, str]
    causes: tuple[str, ...] = Field(description="the hidden causes")
    symptom: str | None
    posterior: dict[str, float] = Field(description="at the diagnosis; without one, after the last step")
    posteriors: tuple[Belief, ...]
    steps: tuple[StepScore, ...]
    ruled_out: tuple[RuledOut, ...]
    predictions: tuple[PredictionScore, ...]
    verifications: tuple[Verification, ...]
    alerts: tuple[AlertScore, ...] = ()
    diagnosis: Named | None = None
    ignored: tuple[Ignored, ...] = ()
    best_path: tuple[BestStep, ...]
    minutes_spent: float
    minutes_best: float | None = Field(
        description="expected minutes of the best search under the hidden cause, to 0.95"
    )
    time_budget_min: float
    dimensions: dict[str, Dimension]
    level: str | None = None
