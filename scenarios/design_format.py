"""The form of a design question: what is asked, and for each of five moves what a strong answer contains.

`scenarios/design/<key>.yaml`; docs/authoring.md tells how to write one. The person marks their own answer against the
points, so a point is something that an answer contains or does not. A figure in a point is computed when the file is
read: it is the napkin's, or the file is refused.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from grader.napkin import asking
from grader.units import QuantityError, parse_quantity
from scenarios.concept_format import Source
from scenarios.parts import Key, Part, Short, Text

Move = Literal["baseline", "bottleneck", "ownership", "communication", "correctness"]
MOVES: tuple[Move, ...] = get_args(Move)
MOST_POINTS = 6
# A point says three figures or fewer: 41.6 GB for 41.56 GB.
ROUNDED = 0.02


class Figure(Part):
    """A figure that a point says, and what `manage.py napkin` makes it of."""

    napkin: Key = Field(description="The quantity.")
    with_: Short = Field(alias="with", description="Its arguments as the command takes them: `params=70B ranks=128`.")
    result: Short = Field(description="Which of its results.")
    says: Short = Field(description="The figure with its unit, as it stands in the text.")

    @property
    def words(self) -> list[str]:
        return self.with_.split()

    @property
    def command(self) -> str:
        """What a person types to get it."""
        return f"napkin {self.napkin} {self.with_}"

    @model_validator(mode="after")
    def _is_what_the_napkin_gives(self) -> Figure:
        try:
            found = asking.answer(asking.named(self.napkin), self.words)
        except asking.QuestionError as refused:
            raise ValueError(str(refused)) from None
        results = {one.name: one for one in found.quantity.results}
        if self.result not in results:
            raise ValueError(f'"{self.result}" is no result of {self.napkin}; there are {", ".join(results)}')
        said, value = self._said(results[self.result].kind), found.values[self.result]
        if not math.isclose(said, value, rel_tol=ROUNDED):
            raise ValueError(f'"{self.says}" is not what the napkin gives: {asking.said(value, results[self.result])}')
        return self

    def _said(self, kind: str) -> float:
        """The figure as the napkin's plain number; days are read as times."""
        try:
            if kind == "days":
                return parse_quantity(self.says, "time") / 86400
            return parse_quantity(self.says, kind)  # type: ignore[arg-type]
        except QuantityError as refused:
            raise ValueError(f'"{self.says}": {refused}') from None


class Point(Part):
    """Something that a strong answer contains."""

    text: Short = Field(description="What the person looks for in their answer.")
    why: Short = Field(description="What it is good for.")
    figures: tuple[Figure, ...] = Field(default=(), max_length=3, description="The figures in its text.")

    @model_validator(mode="after")
    def _says_its_figures(self) -> Point:
        for figure in self.figures:
            if figure.says not in self.text:
                raise ValueError(f'the text does not say "{figure.says}"; write the figure as it stands there')
        return self


class Asked(Part):
    """One move of the answer."""

    ask: Short = Field(description="What this move is about, for this question.")
    points: tuple[Point, ...] = Field(
        min_length=2, max_length=MOST_POINTS, description="What a strong answer contains."
    )


class Fact(Part):
    """Something that is known from the start."""

    label: Short = Field(description="What it is about.")
    text: Short = Field(description="What holds, with units.")


class DesignQuestion(Part):
    """One question, answered move by move."""

    key: Key = Field(description="The file's name; it may be left out.")
    title: Short = Field(description="What is to be designed, in a few words.")
    minutes: int = Field(default=45, ge=5, le=120, description="How long an interview would give it.")
    question: Text = Field(description="As an interviewer would ask it, in Markdown.")
    facts: tuple[Fact, ...] = Field(min_length=1, max_length=12, description="What is known.")
    moves: dict[Move, Asked] = Field(description="The five moves, by name, all of them.")
    source: Source = Field(description="Where to read on.")

    @field_validator("moves")
    @classmethod
    def _are_all_five(cls, moves: dict[Move, Asked]) -> dict[Move, Asked]:
        lacking = [move for move in MOVES if move not in moves]
        if lacking:
            raise ValueError(f"moves lacks {', '.join(lacking)}; all five are asked")
        return {move: moves[move] for move in MOVES}

    def points(self) -> dict[str, Point]:
        """Every point by its id, in order: `baseline-0`."""
        return {f"{move}-{at}": point for move, asked in self.moves.items() for at, point in enumerate(asked.points)}
