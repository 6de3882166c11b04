"""What every criterion takes and returns, and what a rubric may set of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from grader.fixes import hidden_causes
from grader.index import Index
from grader.timeline import Taken, Timeline
from grader.transcript import Transcript

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Words(Frozen):
    """Sentences of a criterion, as templates. A rubric may replace each, with the placeholders that it has here."""

    @model_validator(mode="after")
    def only_known_placeholders(self) -> Words:
        for name, field in type(self).model_fields.items():
            known = placeholders(str(field.default))
            for wrong in sorted(placeholders(getattr(self, name)) - known):
                said = ", ".join(f"{{{one}}}" for one in sorted(known)) or "none"
                raise ValueError(f'{name}: placeholder "{{{wrong}}}" is unknown; there are {said}')
        return self


class Settings(Frozen):
    """Thresholds of one criterion. Each criterion adds its own, and its `words`."""

    title: str = ""


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Mark:
    """A criterion's judgement: 0–1, the events that earned or lost it, one sentence a person would say."""

    score: float
    why: str
    events: tuple[int, ...] = ()
    applicable: bool = True


@dataclass(frozen=True)
class Criterion:
    """One criterion. `credited`: the steps that it credits, which efficiency does not charge. `better`: what an answer
    of the next level would have done."""

    id: str
    settings: type[Settings]
    mark: Callable[[Case], Mark]
    better: str
    credited: Callable[[Case], list[Taken]] = lambda case: []


@dataclass(frozen=True, eq=False)
class Case:
    """One attempt laid out for judgement under one rubric: `criteria` are those that it weighs."""

    timeline: Timeline
    settings: Mapping[type[Settings], Settings]
    criteria: Mapping[str, Criterion]

    def its(self, kind: type[S]) -> S:
        """The rubric's settings of one criterion; its own defaults where the rubric sets none."""
        found = self.settings.get(kind)
        return found if isinstance(found, kind) else kind()

    @property
    def index(self) -> Index:
        return self.timeline.index

    @property
    def transcript(self) -> Transcript:
        return self.timeline.transcript

    @property
    def truths(self) -> tuple[str, ...]:
        """The hidden causes, with those a curveball added."""
        return hidden_causes(self.transcript)

    def title(self, cause: str) -> str:
        """A cause as a person says it inside a sentence."""
        known = {c.id: c.title for c in self.index.knowledge.causes}
        return inside(known.get(cause, cause.replace("-", " ")))

    def clock(self, event: int) -> str:
        """at_s of an event as mm:ss."""
        at_s = int(self.transcript.events[event].at_s)
        return f"{at_s // 60:02d}:{at_s % 60:02d}"


def placeholders(template: str) -> set[str]:
    """What stands in braces, as written: with a conversion or a format it is another placeholder, known nowhere."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError as broken:
        raise ValueError(f"{template!r} is no template: {broken}") from None
    return {
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, conversion in parts
        if name is not None
    }


def nothing(why: str) -> Mark:
    return Mark(0.0, why)


def not_applicable(why: str) -> Mark:
    return Mark(0.0, why, applicable=False)


def inside(title: str) -> str:
    """A title as a person says it inside a sentence; what is written in capitals stays."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def listed(names: list[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def sentence(template: str, **values: Any) -> str:
    """The template filled in, beginning as a sentence does."""
    said = template.format(**values)
    return said[:1].upper() + said[1:]
