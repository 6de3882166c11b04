"""The form of a scenario file. `scenarios/schema.json` publishes it; docs/authoring.md tells how to write one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from grader.knowledge import Effect
from scenarios import palette
from scenarios.parts import (
    MOST_PARTS,
    Collective,
    Decoy,
    Estimate,
    Fact,
    Hint,
    Key,
    Knobs,
    Measure,
    Number,
    Part,
    PlaceName,
    Reference,
    Saving,
    Scale,
    Short,
    SymptomName,
    Text,
)

__all__ = ["CauseBinding", "Collective", "Estimate", "Fix", "LabSetting", "Pair", "Saving", "Scenario"]

Track = Literal["napkin-math", "stragglers", "fabric", "checkpoints"]
Level = Literal["mid", "senior", "staff"]


class LabSetting(Part):
    """The one topology and job that the lab builds and runs whatever the cause; what varies beside it is drawn."""

    topology: Literal["leaf-spine", "two-tier"] = Field(
        default="leaf-spine",
        description="`leaf-spine`: hosts on leaves, joined by spines, one leaf farther away than the others. "
        "`two-tier`: hosts inside nodes with fast links, nodes joined more slowly.",
    )
    hosts_per_leaf: int = Field(
        default=2, ge=2, le=4, description="Hosts on each leaf (in each node), of which some may have no rank."
    )
    hosts: tuple[tuple[int, int], tuple[int, int]] = Field(
        default=((0, 1), (2, 3)),
        description="The job's hosts by leaf (by node); which of a leaf's holds which rank is drawn.",
    )
    in_turn: bool = Field(default=False, description="Ranks are dealt to the leaves in turn; otherwise leaf by leaf.")
    job: Knobs = Field(
        default_factory=dict, description="Fields of the lab's job (`specs.Job`), the same in the healthy run before."
    )


class CauseBinding(Part):
    """A cause of this family of incidents: how its fault is drawn and what the debrief says of it."""

    id: Key = Field(description="From scenarios/causes.yaml; the lab must have the fault of that id.")
    prior: float = Field(
        default=1.0, gt=0, le=1000, allow_inf_nan=False, description="How likely it is, relative to the other causes."
    )
    places: tuple[PlaceName, ...] = Field(
        default=(), max_length=MOST_PARTS, description="Where its fault may be, like `rank:2`; one is drawn."
    )
    params: dict[str, tuple[Number, Number]] = Field(
        default_factory=dict,
        max_length=20,
        description="Range of each of the fault's parameters; whole numbers are drawn where both ends are whole.",
    )
    under: dict[Key, dict[str, Number]] = Field(
        default_factory=dict, max_length=MOST_PARTS, description="The fault's parameters after a fix, by the fix's id."
    )
    debrief: Text = Field(description="Told after the close: what it was, what showed it, what misled.")


class Pair(Part):
    """Two causes that a curveball may have at work at once."""

    causes: tuple[Key, Key] = Field(description="Two of this scenario's causes; either may come first.")
    debrief: Text = Field(description="Told after the close: how the two hide or uncover each other.")

    @property
    def id(self) -> str:
        """`degraded-link+throttled-rank`: the same whichever is named first."""
        return "+".join(sorted(self.causes))


class Fix(Part):
    """A repair that a candidate may apply, right or tempting, and what it does to each cause."""

    id: Key = Field(description="What transcripts call it.")
    title: Short = Field(description="As the page lists it.")
    description: Text = Field(description="What would be done.")
    takes_place: Literal["rank", "host", "link"] | None = Field(
        default=None, description="The kind of place that it has to name; left out where it needs none."
    )
    effects: dict[Key, Effect] = Field(
        default_factory=dict, max_length=MOST_PARTS, description="What it does, by cause; a cause left out: nothing."
    )
    job: Knobs = Field(
        default_factory=dict, description="Fields of the lab's job that it really sets, whatever the cause."
    )
    changes_optimisation: bool = Field(
        default=False, description="It changes what is learned, as the check against the loss shows."
    )


class Scenario(Part):
    """An incident family: one brief, one set of causes, of which each attempt draws one."""

    key: Key = Field(description="The file's name without `.yaml`.")
    revision: int = Field(
        ge=1, le=999, description="Rises with every edit that could change a score; a published one never changes."
    )
    title: Short = Field(description="As lists show it. It may not name a cause.")
    track: Track = Field(description="The track that it belongs to, and its folder.")
    tracks: tuple[Track, ...] = Field(default=(), max_length=3, description="Other tracks that list it as well.")
    level: Level = Field(description="Whom it is meant for.")
    table: Key = Field(description="The calibration and bank that it shares with scenarios of the same job and fabric.")
    rubric: Key | None = Field(
        default=None, description="The rubric that scores it, a file of scenarios/rubrics; left out: its track's."
    )
    time_budget_min: float = Field(
        gt=0, le=600, allow_inf_nan=False, description="Priced minutes of cluster time that steps may take."
    )
    stop_weight: float = Field(
        default=1.0, ge=0, le=10, allow_inf_nan=False, description="What a minute counts when the job must stop for it."
    )
    at_floor_from: float = Field(
        default=0.85, gt=0, le=1, description="Fraction of the floor from which a collective counts as at it."
    )
    mfu_before: float = Field(default=0.40, gt=0, le=1, description="Model FLOPs utilisation of the healthy run.")
    headline: tuple[float, float] | None = Field(
        default=(0.45, 0.70),
        description="What every cause leaves of the healthy run, as the symptom measures it (useful work a second, "
        "steps that come out as logged, samples that were due): the brief's range. `null` where it measures nothing.",
    )
    symptom: SymptomName = Field(
        default="slow-collective",
        description="What the brief is about: the measured evidence 0, its findings, the numbers that it may print.",
    )
    brief: Text = Field(
        description="Markdown. Measured numbers stand in braces, by the symptom: {mfu_before} {mfu_now} {work_ratio} "
        "{step_before} {step_now} {collective_before} {collective_now}; of latencies {mean_before} {mean_now} "
        "{p99_before} {p99_now} too; of a restart {steps_due} {steps_on_curve} {last_step} {loss_before} {loss_now} "
        "{samples_read} {samples_not_due}; of saves {stall_before} {stall_now} {save_step}. It may not name a cause."
    )
    scale: Scale = Field(
        description="Production beside the lab, and the two collectives that floors are computed from."
    )
    setting: LabSetting = Field(default=LabSetting(), description="What the lab builds and runs, whatever the cause.")
    facts: tuple[Fact, ...] = Field(
        max_length=MOST_PARTS, description="What the brief holds back and tells when asked."
    )
    steps: tuple[Key, ...] = Field(
        default_factory=lambda: tuple(palette.offered()),
        min_length=1,
        max_length=MOST_PARTS,
        description="Ids of the palette that it offers; left out: every one that can be measured.",
    )
    causes: tuple[CauseBinding, ...] = Field(
        min_length=2, max_length=MOST_PARTS, description="What it may be; one is drawn for each attempt."
    )
    pairs: tuple[Pair, ...] = Field(
        default=(), max_length=MOST_PARTS, description="Causes that a curveball may combine; none: no curveball."
    )
    fixes: tuple[Fix, ...] = Field(
        min_length=1, max_length=MOST_PARTS, description="Repairs that it offers, tempting wrong ones among them."
    )
    measures: tuple[Measure, ...] = Field(max_length=MOST_PARTS, description="Preventive measures that it offers.")
    estimates: tuple[Estimate, ...] = Field(max_length=MOST_PARTS, description="Numbers to be worked out by hand.")
    hints: tuple[Hint, ...] = Field(max_length=3, description="The ladder of hints, level by level.")
    decoys: tuple[Decoy, ...] = Field(
        default=(), max_length=MOST_PARTS, description="What it tempts one to name and never is."
    )
    references: tuple[Reference, ...] = Field(
        default=(), max_length=MOST_PARTS, description="The source of every fact from outside."
    )

    @model_validator(mode="after")
    def ids_are_unique(self) -> Scenario:
        for name in ("facts", "causes", "pairs", "fixes", "measures", "references"):
            refuse_twice(name, [part.id for part in getattr(self, name)])
        refuse_twice("decoys", [decoy.cause for decoy in self.decoys])
        return self

    @property
    def prior(self) -> dict[str, float]:
        """The declared probability of each cause; sums to 1."""
        total = sum(cause.prior for cause in self.causes)
        return {cause.id: cause.prior / total for cause in self.causes}

    @property
    def every_track(self) -> tuple[str, ...]:
        """Every track that lists it, its own first."""
        return tuple(dict.fromkeys((self.track, *self.tracks)))

    def cause(self, id: str) -> CauseBinding:
        """The binding of one cause. Raises KeyError where the scenario has it not."""
        return {cause.id: cause for cause in self.causes}[id]

    def fix(self, id: str) -> Fix:
        """One fix. Raises KeyError where the scenario has it not."""
        return {fix.id: fix for fix in self.fixes}[id]


def refuse_twice(name: str, ids: list[str]) -> None:
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ValueError(f'{name} name "{twice[0]}" twice; each id stands once')
