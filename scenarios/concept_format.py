"""The form of a concept exercise: one question, one kind of answer, what it trains, where it is from.

`scenarios/concepts/<key>.yaml`; docs/authoring.md tells how to write one. The answer is a choice of several, an order,
pairs to be matched, or a number with a unit; exactly one of the four stands in a file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from gpu_worker.faults import FAULTS
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from grader.drills.base import Slip
from grader.units import Kind, QuantityError, parse_quantity
from scenarios.errors import did_you_mean
from scenarios.parts import Key, Part, Short, Text, Url

MOST_OPTIONS = 8
# The steps of the search, in their order.
Trains = Literal["floor", "split", "bisect", "rule-out", "confirm", "repair", "prevent"]
ConceptTrack = Literal["napkin-math", "stragglers", "fabric", "checkpoints"]


class Option(Part):
    """One thing to tick or to leave, with the reason that is shown afterwards."""

    text: Short = Field(description="What the candidate reads.")
    right: bool = Field(default=False, description="Whether it is to be ticked.")
    why: Short = Field(description="Why it is, or is not; shown after the answer.")


class Item(Part):
    """One thing to put into its place."""

    text: Short = Field(description="What the candidate reads.")
    why: Short = Field(description="Why here, shown after the answer.")


class Pair(Part):
    """What belongs together."""

    left: Short = Field(description="Shown in the file's order.")
    right: Short = Field(description="One of the choices for every left side; shown shuffled.")
    why: Short = Field(description="Why they belong together, shown after the answer.")


class NumberSlip(Part):
    """A wrong number that a known mistake gives."""

    value: Short = Field(description="With its unit.")
    name: Short = Field(description="What the mistake is called.")
    told: Short = Field(description="What to do instead.")


class Number(Part):
    """A number with its unit. Judged as napkin drills are."""

    value: Short = Field(description="The right one, with its unit.")
    kind: Kind = Field(description="What is asked for: a time, a rate, …")
    tolerance: float = Field(default=0.05, gt=0, le=0.5, description="How far off is still right, as a share.")
    slips: tuple[NumberSlip, ...] = Field(default=(), max_length=6, description="Mistakes that have a name.")

    @model_validator(mode="after")
    def _can_be_read(self) -> Number:
        for text in (self.value, *(slip.value for slip in self.slips)):
            try:
                parse_quantity(text, self.kind)
            except QuantityError as refused:
                raise ValueError(f'"{text}" is not of kind {self.kind}: {refused}') from None
        for slip in self.slips:
            value, right = parse_quantity(slip.value, self.kind), parse_quantity(self.value, self.kind)
            if abs(value / right - 1) <= self.tolerance:
                raise ValueError(f'slip "{slip.value}" lies within the tolerance of {self.value}; leave it out')
        return self


class Source(Part):
    """Where it can be read up."""

    title: Short = Field(description="Author, title and year, or the documentation's name and page.")
    url: Url | None = Field(default=None, description="Where it can be read, if anywhere.")


class LabRun(Part):
    """A run of the lab that shows it: a step with its parameters, under a cause."""

    step: Key = Field(description="From the palette.")
    with_: dict[str, str] = Field(default_factory=dict, alias="with", description="Its parameters, if it has any.")
    cause: Key = Field(description="The fault that the lab injects for it.")

    @field_validator("step")
    @classmethod
    def _is_measured(cls, step: str) -> str:
        if step not in PROBES:
            raise ValueError(f'step "{step}" is measured by no probe{did_you_mean(step, PROBES)}')
        return step

    @field_validator("cause")
    @classmethod
    def _can_be_injected(cls, cause: str) -> str:
        if cause not in FAULTS:
            raise ValueError(f'cause "{cause}" cannot be injected{did_you_mean(cause, FAULTS)}')
        return cause

    @model_validator(mode="after")
    def _is_a_variant(self) -> LabRun:
        if self.with_ not in (known := list(variants(PROBES[self.step]))):
            raise ValueError(f"with: {self.with_} is no variant of {self.step}; known: {known}")
        return self


class Concept(Part):
    """One exercise."""

    key: Key = Field(description="The file's name; it may be left out.")
    title: Short = Field(description="What it is about, without the answer.")
    track: ConceptTrack = Field(description="To which track it belongs.")
    trains: Trains = Field(description="Which step of the search it trains.")
    question: Text = Field(description="In Markdown.")
    choice: tuple[Option, ...] = Field(default=(), max_length=MOST_OPTIONS, description="Tick all that hold.")
    order: tuple[Item, ...] = Field(default=(), max_length=MOST_OPTIONS, description="In the right order.")
    match: tuple[Pair, ...] = Field(default=(), max_length=MOST_OPTIONS, description="Pairs that belong together.")
    number: Number | None = Field(default=None, description="A number with its unit.")
    explanation: Text = Field(description="Shown after the answer, in Markdown.")
    source: Source = Field(description="Where it is from.")
    lab: LabRun | None = Field(default=None, description="The run of the lab that shows it, if there is one.")

    @property
    def kind(self) -> str:
        return next(name for name in KINDS if getattr(self, name))

    @model_validator(mode="after")
    def _has_one_answer(self) -> Concept:
        given = [name for name in KINDS if getattr(self, name)]
        if len(given) != 1:
            said = " and ".join(given) or "none"
            raise ValueError(f"exactly one of {', '.join(KINDS)} has to be given; here {said}")
        if self.choice and not 0 < sum(option.right for option in self.choice) < len(self.choice):
            raise ValueError("choice: at least one option has to be right, and at least one wrong")
        if 0 < len(self.order) < 3 or 0 < len(self.match) < 3 or 0 < len(self.choice) < 3:
            raise ValueError(f"{self.kind}: three are the least; add some")
        _each_once(self.kind, [*(option.text for option in self.choice), *(item.text for item in self.order)])
        _each_once("match", [pair.left for pair in self.match])
        _each_once("match", [pair.right for pair in self.match])
        return self


def _each_once(where: str, texts: list[str]) -> None:
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f'{where}: "{text}" stands there twice; leave one out')


KINDS = ("choice", "order", "match", "number")


def slips_of(number: Number) -> tuple[Slip, ...]:
    """The named mistakes as a drill has them."""
    return tuple(
        Slip(f"concept-{at}", slip.name, slip.told, parse_quantity(slip.value, number.kind))
        for at, slip in enumerate(number.slips)
    )
