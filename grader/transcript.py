"""The event log of an attempt, checked. Format with worked examples: docs/transcript.md.

A malformed transcript is refused with the event's index and kind, the field, and what would be right there.
Events of an unknown kind are kept and ignored by name: an older grader must be able to read a newer log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MAX_EVENTS = 5000
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]


class TranscriptError(ValueError):
    """A transcript that cannot be read: `event` is the index (None for the head), `field` the path in it."""

    def __init__(self, message: str, *, event: int | None = None, field: str = "") -> None:
        super().__init__(message)
        self.event = event
        self.field = field


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)


class Cited(Strict):
    """A piece of evidence cited in `because`: a step id, a variant, or the index of an event, with optional words."""

    ref: Name | int
    text: Text = ""


Because = Annotated[
    list[Name | int | Cited],
    Field(
        default_factory=list,
        description="step ids, variants, or indices of events; words that name neither are kept as words",
    ),
]
With = Annotated[dict[str, str], Field(default_factory=dict, alias="with", description="the step's parameters")]
Share = Annotated[float, Field(ge=0, le=1)]


class EventBase(Strict):
    at_s: float = Field(ge=0, allow_inf_nan=False, description="seconds since the attempt opened")


class Ask(EventBase):
    kind: Literal["ask"]
    fact: Name


class Estimate(EventBase):
    kind: Literal["estimate"]
    quantity: Name
    scale: Literal["production", "lab"] = "production"
    value: Text = Field(description="a number with its unit, as typed; the first one of a quantity and scale counts")
    assuming: Text = ""


class Verdict(EventBase):
    kind: Literal["verdict"]
    collective: Literal["at-floor", "below-floor"]


class Hypothesis(EventBase):
    kind: Literal["hypothesis"]
    causes: list[Name]


class Expectation(Strict):
    causes: list[Name] = Field(min_length=1)
    finding: Name


class Predict(EventBase):
    kind: Literal["predict"]
    step: Name
    with_: With
    expect: list[Expectation]


class Step(EventBase):
    kind: Literal["step"]
    step: Name
    with_: With
    finding: Name | None = None
    evidence: Name | None = None
    opened_at_s: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="when it was asked for, where that was before it was shown"
    )


class RuleOut(EventBase):
    kind: Literal["rule_out"]
    causes: list[Name] = Field(default_factory=list)
    families: list[Name] = Field(default_factory=list)
    because: Because
    text: Text = ""


class Restore(EventBase):
    kind: Literal["restore"]
    causes: list[Name] = Field(min_length=1)


class Note(EventBase):
    kind: Literal["note"]
    text: Text


class Hint(EventBase):
    kind: Literal["hint"]
    level: Literal[1, 2, 3]


class Diagnose(EventBase):
    kind: Literal["diagnose"]
    causes: list[Name] = Field(min_length=1)
    where: Name | None = None
    confidence: Share | None = None
    because: Because
    text: Text = ""


class Success(EventBase):
    kind: Literal["success"]
    metric: Name
    threshold: Text | float


class Fix(EventBase):
    kind: Literal["fix"]
    fix: Name
    where: Name | None = None


class Verify(EventBase):
    kind: Literal["verify"]
    step: Name
    with_: With
    against: Name | list[Name] = Field(description="`floor`, `loss`, or both; other words are kept")
    finding: Name | None = None
    evidence: Name | None = None


class AlertSaid(Strict):
    """On while at least `share` of the last `window` points of a metric lies beyond `threshold`, in its own unit."""

    metric: Name
    threshold: float = Field(allow_inf_nan=False)
    direction: Literal["above", "below"] | None = Field(default=None, description="absent: where the metric gets worse")
    window: int = Field(default=1, ge=1, le=1000, description="points")
    share: float = Field(default=1.0, gt=0, le=1)


class Prevent(EventBase):
    kind: Literal["prevent"]
    measures: list[Name]
    alerts: list[AlertSaid] = Field(default_factory=list, max_length=20, description="back-tested on recorded runs")


class Close(EventBase):
    kind: Literal["close"]


class Pause(EventBase):
    kind: Literal["pause"]


class Resume(EventBase):
    kind: Literal["resume"]


class Message(EventBase):
    kind: Literal["message"]
    text: Text


class Curveball(EventBase):
    kind: Literal["curveball"]
    cause: Name
    where: Name | None = None


class Reveal(EventBase):
    kind: Literal["reveal"]


class Handover(EventBase):
    kind: Literal["handover"]
    to: Name


class Unknown(BaseModel):
    """An event of a kind that this grader does not know: kept as it is, ignored in scoring."""

    model_config = ConfigDict(frozen=True, extra="allow")
    kind: str
    at_s: float = 0.0


Event = (
    Ask | Estimate | Verdict | Hypothesis | Predict | Step | RuleOut | Restore | Note | Hint | Diagnose | Success | Fix
    | Verify | Prevent | Close | Pause | Resume | Message | Curveball | Reveal | Handover
)  # fmt: skip
KINDS: dict[str, type[EventBase]] = {
    model.model_fields["kind"].annotation.__args__[0]: model for model in Event.__args__
}


class Transcript(BaseModel):
    """One attempt. `causes` holds the hidden cause; the order of events is the order of the list."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    scenario: str
    revision: int = Field(default=1, ge=1)
    calibration: str | None = Field(default=None, description="digest of the tables that it was scored by")
    causes: tuple[str, ...] = Field(default=(), description="the hidden cause")
    places: dict[str, tuple[str, ...]] = Field(default_factory=dict, description="accepted places, by cause")
    truths: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="values of this attempt, by quantity or quantity:scale, SI: {'fraction-of-floor': 0.26}",
    )
    symptom: str | None = Field(
        default=None, description="finding of evidence 0; absent: the most likely one under the cause"
    )
    conditions: dict[str, str] = Field(
        default_factory=dict, description="mode, visible costs, extra time: shown with the score"
    )
    events: tuple[Annotated[Event, Field(discriminator="kind")] | Unknown, ...] = ()


class _Head(Transcript):
    """Everything but the events, for an error that names the head's field."""

    events: Any = ()


def variant_id(step: str, with_: Mapping[str, str] | None = None) -> str:
    """`link-rates`, {scope: all} -> `link-rates[scope=all]`: the canonical name of a step with its parameters."""
    if not with_:
        return step
    return f"{step}[{','.join(f'{name}={value}' for name, value in sorted(with_.items()))}]"


def parse_transcript(obj: Any) -> Transcript:
    """A checked Transcript from JSON-like data (a dict). Raises TranscriptError naming event index, kind and field."""
    if isinstance(obj, Transcript):
        return obj
    if not isinstance(obj, Mapping):
        raise TranscriptError(f"a transcript is an object with scenario, causes and events, not {_type(obj)}")
    raw_events = obj.get("events", ())
    if not isinstance(raw_events, list | tuple):
        raise TranscriptError(f"events: must be a list, not {_type(raw_events)}", field="events")
    if len(raw_events) > MAX_EVENTS:
        raise TranscriptError(f"events: {len(raw_events)} of them; at most {MAX_EVENTS}", field="events")
    head = _parse_head({name: value for name, value in obj.items() if name != "events"})
    events = tuple(parse_event(event, index) for index, event in enumerate(raw_events))
    return Transcript.model_construct(**{**dict(head), "events": events})


def parse_event(raw: Any, index: int = 0) -> EventBase | Unknown:
    """One checked event. Raises TranscriptError naming `index`, the kind and the field."""
    if isinstance(raw, EventBase | Unknown):
        return raw
    if not isinstance(raw, Mapping):
        raise TranscriptError(f"event {index}: must be an object with at_s and kind, not {_type(raw)}", event=index)
    kind = raw.get("kind")
    if not isinstance(kind, str):
        raise TranscriptError(f'event {index}: field kind: must be text, for example "step"', event=index, field="kind")
    model = KINDS.get(kind)
    try:
        return model.model_validate(raw) if model else Unknown.model_validate(raw)
    except ValidationError as error:
        raise _event_error(error, index, kind, model) from None


def transcript_schema() -> dict[str, Any]:
    """The JSON Schema of a transcript file."""
    schema = Transcript.model_json_schema(by_alias=True)
    schema["title"] = "Rank 37 transcript"
    return schema


def _parse_head(raw: dict[str, Any]) -> _Head:
    try:
        return _Head.model_validate(raw)
    except ValidationError as error:
        field, problem = _first_problem(error, _Head)
        raise TranscriptError(f"transcript: field {field}: {problem}", field=field) from None


def _event_error(error: ValidationError, index: int, kind: str, model: type[BaseModel] | None) -> TranscriptError:
    field, problem = _first_problem(error, model or Unknown)
    return TranscriptError(f"event {index} ({kind}): field {field}: {problem}", event=index, field=field)


def _first_problem(error: ValidationError, model: type[BaseModel]) -> tuple[str, str]:
    first = error.errors(include_url=False)[0]
    is_extra = first["type"] == "extra_forbidden"
    # Branches of a union are listed with the union's tags in the path: keep what a person wrote.
    path = [part for part in first["loc"] if isinstance(part, int) or part.replace("_", "").isalnum()]
    if is_extra and first["loc"][-1] not in path:
        path.append(first["loc"][-1])
    field = ".".join(map(str, path))
    if is_extra:
        allowed = ", ".join(sorted(info.alias or name for name, info in model.model_fields.items()))
        return field, f"is not a field here; the fields are {allowed}"
    if first["type"] == "missing":
        return field, "is missing"
    if first["type"] == "too_short":
        return field, "must name at least one"
    return field, first["msg"].replace("Input should be", "must be").replace("String should", "must")


def _type(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "text", type(None): "nothing"}.get(
        type(value), type(value).__name__
    )
