"""The small parts of a scenario file: texts, numbers, and what they are made of.

Every field says what it is, since an editor shows it beside the key; every text and list has a largest size.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from grader.knowledge import EstimateKind, EstimateName

Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s<>\"]+$", max_length=500)]
PlaceName = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Number = int | Finite
Word = Annotated[str, StringConstraints(max_length=60)]
SymptomName = Literal["slow-collective", "latency", "resume", "resume-on-fewer-ranks", "samples", "saving", "crash"]
Knobs = Annotated[dict[Word, int | Finite | bool | Word], Field(max_length=40)]

MOST_PARTS = 64
ESTIMATE_KINDS: dict[EstimateName, EstimateKind] = {
    "collective-floor": "time",
    "bytes-on-the-wire": "data",
    "fraction-of-floor": "ratio",
    "checkpoint-bytes": "data",
    "save-time": "time",
    "save-interval": "time",
    "lost-work": "time",
    "samples-by-step": "count",
}


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Fact(Part):
    """A clarifying fact that the brief holds back; asking for it is free."""

    id: Key = Field(description="What transcripts call it, for instance `precision`.")
    question: Short = Field(description="As a candidate would ask it.")
    answer: Text = Field(description="True under every cause, or it would tell the cause.")
    source: Key | None = Field(default=None, description="The reference that it is taken from, by its id, if any.")


class ScaleRow(Part):
    """One line of the table that sets the production system beside the lab."""

    label: Short = Field(description="What is compared, for instance `link of a rank`.")
    production: Short = Field(description="In production, with its unit.")
    lab: Short = Field(description="On the lab, with its unit.")


class Collective(Part):
    """What the floor is computed from."""

    op: Literal["all-reduce"] = Field(default="all-reduce", description="The collective that a step waits for.")
    ranks: int = Field(ge=2, le=1_000_000, description="Ranks in it.")
    size_bytes: float = Field(gt=0, le=1e15, description="Bytes of the whole array.")
    rate_bits_per_s: float = Field(gt=0, le=1e15, description="Bits a second of a rank's link.")
    latency_s: float = Field(
        ge=0,
        le=10,
        description="Seconds of one hop of the ring; the share that they take of the whole time is printed.",
    )


class Saving(Part):
    """What the arithmetic of saves is done with."""

    params: float = Field(gt=0, le=1e15, description="Parameters of the model.")
    bytes_a_param: float = Field(default=14, gt=0, le=64, description="Saved bytes of each: weights, master, moments.")
    writers: int = Field(ge=1, le=1_000_000, description="Ranks that write at once.")
    rate_bits_per_s: float = Field(gt=0, le=1e15, description="Bits a second of a writer's way to the storage.")
    storage_bits_per_s: float | None = Field(
        default=None,
        gt=0,
        le=1e18,
        description="Bits a second of the storage itself; left out: wider than its writers.",
    )
    samples_a_step: int = Field(ge=1, le=1_000_000_000, description="Samples of a step over all ranks.")
    steps: int = Field(ge=1, le=1_000_000_000, description="The step that estimates speak of.")
    interval_s: float = Field(gt=0, le=1e9, description="Seconds between saves.")
    mtbf_s: float = Field(gt=0, le=1e9, description="Seconds between failures that end the job, on average.")


class Saves(Part):
    """Saving in production and on the lab."""

    production: Saving = Field(description="In production.")
    lab: Saving = Field(description="On the lab.")


class Scale(Part):
    """The stated scale between production and lab; ratios carry over while latency is a small share at both."""

    note: Text = Field(description="What carries over and what does not, in a sentence.")
    rows: tuple[ScaleRow, ...] = Field(max_length=MOST_PARTS, description="The table that the page prints.")
    production: Collective | None = Field(
        default=None, description="The collective in production, from which its floor is computed; none: none is asked."
    )
    lab: Collective | None = Field(
        default=None, description="The collective on the lab, from which its floor is computed; none: none is asked."
    )
    saves: Saves | None = Field(
        default=None, description="Saving at both scales, from which its estimates are computed; none: none are asked."
    )


class Measure(Part):
    """A preventive measure that a candidate may choose after the repair."""

    id: Key = Field(description="What transcripts call it.")
    title: Short = Field(description="As the page lists it.")
    description: Text = Field(description="What would be set up.")
    catches: tuple[Key, ...] = Field(max_length=MOST_PARTS, description="Causes that it would have shown.")


class Accepted(Part):
    """One right answer to an estimate."""

    value: Short = Field(description="With its unit, as a candidate would write it: `5.6 s`, `280 GB`.")
    assuming: str = Field(default="", max_length=300, description="What has to be assumed for it; empty: nothing.")


class Estimate(Part):
    """A number to be worked out before measuring."""

    quantity: EstimateName = Field(description="What is asked for; what `scale` gives is checked against it.")
    scale: Literal["production", "lab"] = Field(description="For which of the two systems.")
    question: Short = Field(description="As the page asks it.")
    accepted: tuple[Accepted, ...] = Field(
        default=(), max_length=8, description="Right answers; empty where the value depends on the attempt."
    )

    @property
    def kind(self) -> EstimateKind:
        """What the answer is measured in."""
        return ESTIMATE_KINDS[self.quantity]


class Hint(Part):
    """One rung of the ladder of hints. It must help under every cause."""

    level: int = Field(ge=1, le=3, description="From 1, a nudge, to 3, the next move; each costs more.")
    text: Text = Field(description="What the candidate is told.")


class Decoy(Part):
    """A cause that the evidence tempts one to name and that this incident never has; told in the debrief."""

    cause: Key = Field(description="Of the global list of causes, and none of this scenario's.")
    tempts: Text = Field(description="What in the evidence points to it: the misleading witness.")
    settled_by: tuple[Key, ...] = Field(
        min_length=1, max_length=8, description="Steps whose readings speak against it, of those offered."
    )
    source: Key | None = Field(default=None, description="The reference of the real case, by its id, if there is one.")


class Reference(Part):
    """Where a fact comes from that neither the lab nor arithmetic gives."""

    id: Key = Field(description="What facts and decoys cite.")
    title: Short = Field(description="Author, title and year, or the tracker's name and number.")
    url: Url = Field(description="Where it can be read.")
    supports: Text = Field(description="Which fact is taken from it, in your own words.")
