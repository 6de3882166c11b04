"""The form of a scenario file. `scenario schema` publishes it; docs/authoring.md tells how to write one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from grader.knowledge import Effect

Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Track = Literal["napkin-math", "stragglers", "fabric", "checkpoints"]
Level = Literal["mid", "senior", "staff"]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Fact(Part):
    """A clarifying fact that the brief holds back; asking for it is free."""

    id: Key
    question: Text
    answer: Text


class ScaleRow(Part):
    """One line of the table that sets the production system beside the lab."""

    label: Text
    production: Text
    lab: Text


class Collective(Part):
    """What the floor is computed from. Rates in bits/s, sizes in bytes, latency in seconds a hop."""

    op: Literal["all-reduce"] = "all-reduce"
    ranks: int = Field(ge=2)
    size_bytes: float = Field(gt=0)
    rate_bits_per_s: float = Field(gt=0)
    latency_s: float = Field(ge=0, description="of one hop of the ring; its share of the time is printed")


class Scale(Part):
    """The stated scale between production and lab; ratios carry over while latency is a small share at both."""

    note: Text
    rows: tuple[ScaleRow, ...]
    production: Collective
    lab: Collective


class LabSetting(Part):
    """What the lab builds and runs, whatever the cause: what varies beside it is drawn (`scenarios.draws`)."""

    hosts_per_leaf: int = Field(default=2, ge=2, le=4, description="of which some may have no rank")
    hosts: tuple[tuple[int, int], tuple[int, int]] = Field(
        default=((0, 1), (2, 3)), description="the job's, by leaf; which of a leaf's holds which rank is drawn"
    )
    in_turn: bool = Field(default=False, description="ranks are dealt to the leaves in turn, not leaf by leaf")
    job: dict[str, int | float | bool | str] = Field(
        default_factory=dict, description="fields of the lab's job, the same in the healthy run before"
    )


class CauseBinding(Part):
    """A cause of this family of incidents: how its fault is drawn and what the debrief says of it."""

    id: Key
    prior: float = Field(default=1.0, gt=0, description="relative to the other causes")
    places: tuple[str, ...] = Field(default=(), description="where its fault may be; one is drawn")
    params: dict[str, tuple[int | float, int | float]] = Field(
        default_factory=dict, description="range of each of the fault's parameters; whole numbers where both ends are"
    )
    under: dict[Key, dict[str, float]] = Field(
        default_factory=dict, description="the fault's parameters after a fix, by its id"
    )
    debrief: Text


class Fix(Part):
    id: Key
    title: Text
    description: Text
    takes_place: Literal["rank", "host", "link"] | None = None
    effects: dict[Key, Effect] = Field(default_factory=dict, description="by cause; a cause left out: nothing")
    job: dict[str, int | float | bool | str] = Field(
        default_factory=dict, description="fields of the lab's job that it sets, whatever the cause"
    )
    changes_optimisation: bool = False


class Measure(Part):
    id: Key
    title: Text
    description: Text
    catches: tuple[Key, ...] = Field(description="causes that it would have shown")


class Accepted(Part):
    value: Text = Field(description="with its unit, as a candidate would write it: `5.6 s`, `280 GB`")
    assuming: str = ""


class Estimate(Part):
    quantity: Literal["collective-floor", "bytes-on-the-wire", "fraction-of-floor"]
    scale: Literal["production", "lab"]
    question: Text
    accepted: tuple[Accepted, ...] = Field(default=(), description="empty where the value depends on the attempt")

    @property
    def kind(self) -> Literal["time", "data", "ratio"]:
        """What the answer is measured in."""
        kinds: dict[str, Literal["time", "data", "ratio"]] = {
            "collective-floor": "time",
            "bytes-on-the-wire": "data",
            "fraction-of-floor": "ratio",
        }
        return kinds[self.quantity]


class Hint(Part):
    level: int = Field(ge=1, le=3)
    text: Text


class Scenario(Part):
    """An incident family: one brief, one set of causes, of which each attempt draws one."""

    key: Key
    revision: int = Field(ge=1)
    title: Text
    track: Track
    level: Level
    table: Key = Field(description="the calibration and bank that it shares with scenarios of the same job and fabric")
    time_budget_min: float = Field(gt=0)
    stop_weight: float = Field(default=1.0, ge=0, description="what a minute counts when the job must stop for it")
    at_floor_from: float = Field(default=0.85, gt=0, le=1, description="fraction from which it is at its floor")
    mfu_before: float = Field(default=0.40, gt=0, le=1)
    brief: Text = Field(description="Markdown; may hold the placeholders of `scenarios.brief.PLACEHOLDERS`")
    scale: Scale
    setting: LabSetting = LabSetting()
    facts: tuple[Fact, ...]
    steps: tuple[Key, ...] = Field(description="of the palette, those that this scenario offers")
    causes: tuple[CauseBinding, ...] = Field(min_length=2)
    fixes: tuple[Fix, ...]
    measures: tuple[Measure, ...]
    estimates: tuple[Estimate, ...]
    hints: tuple[Hint, ...]

    @model_validator(mode="after")
    def ids_are_unique(self) -> Scenario:
        for name in ("facts", "causes", "fixes", "measures"):
            ids = [part.id for part in getattr(self, name)]
            twice = sorted({id for id in ids if ids.count(id) > 1})
            if twice:
                raise ValueError(f'{name} name "{twice[0]}" twice; each id stands once')
        return self

    @property
    def prior(self) -> dict[str, float]:
        """The declared probability of each cause; sums to 1."""
        total = sum(cause.prior for cause in self.causes)
        return {cause.id: cause.prior / total for cause in self.causes}

    def cause(self, id: str) -> CauseBinding:
        """The binding of one cause. Raises KeyError where the scenario has it not."""
        return {cause.id: cause for cause in self.causes}[id]

    def fix(self, id: str) -> Fix:
        """One fix. Raises KeyError where the scenario has it not."""
        return {fix.id: fix for fix in self.fixes}[id]
