"""What every criterion takes and returns."""

from __future__ import annotations

from dataclasses import dataclass

from grader.index import Index
from grader.timeline import Timeline
from grader.transcript import Curveball, Transcript


@dataclass(frozen=True)
class Mark:
    """A criterion's judgement: 0–1, the events that earned or lost it, one sentence a person would say."""

    score: float
    why: str
    events: tuple[int, ...] = ()
    applicable: bool = True


@dataclass(frozen=True, eq=False)
class Case:
    """One attempt laid out for judgement."""

    timeline: Timeline

    @property
    def index(self) -> Index:
        return self.timeline.index

    @property
    def transcript(self) -> Transcript:
        return self.timeline.transcript

    @property
    def truths(self) -> tuple[str, ...]:
        """The hidden causes, with those a curveball added."""
        thrown = [event.cause for event in self.transcript.events if isinstance(event, Curveball)]
        return tuple(dict.fromkeys([*self.transcript.causes, *thrown]))

    def title(self, cause: str) -> str:
        """A cause as a person says it inside a sentence."""
        known = {c.id: c.title for c in self.index.knowledge.causes}
        title = known.get(cause, cause.replace("-", " "))
        return title if title[1:2].isupper() else title[:1].lower() + title[1:]

    def clock(self, event: int) -> str:
        """at_s of an event as mm:ss."""
        at_s = int(self.transcript.events[event].at_s)
        return f"{at_s // 60:02d}:{at_s % 60:02d}"


def nothing(why: str) -> Mark:
    return Mark(0.0, why)


def not_applicable(why: str) -> Mark:
    return Mark(0.0, why, applicable=False)


def listed(names: list[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)
