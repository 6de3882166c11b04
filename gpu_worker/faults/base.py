"""What a fault is: typed parameters with bounds, a pure plan of what to change, and a proof that it fired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.injectors.base import Act
from gpu_worker.specs import Fault, Setting

PlaceKind = Literal["rank", "link", "none"]
ParamsT = TypeVar("ParamsT", bound="Params")


class Params(BaseModel):
    """Base of a fault's parameters: numbers with bounds; each names its unit and kind in `json_schema_extra`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoParams(Params):
    """Of a fault that has nothing to set."""


@dataclass(frozen=True)
class Changes:
    """What a fault does to a healthy run. Empty fields change nothing.

    `job` holds fields of `specs.Job` with their new values, `rank_job` the same for single ranks; `link_rates` are
    bits/s for both directions of a link, `oneway_rates` for one direction (`host0->leaf0`); `source_rates` are bytes/s
    by rank, `shared_sources` bytes/s that the ranks of a key have together; `checkpoint` holds fields of
    `checkpoints.knobs.Knobs`; `acts` are done to the fabric or the ranks while they run; `must_cross` are links that a
    flow of the ring has to take, so that the fault can show; with `collide`, two flows of the ring have to share an
    uplink (those, where `must_cross` names some), which in every other run no two may.
    """

    placement: tuple[int, ...] | None = None
    job: Mapping[str, Any] = field(default_factory=dict)
    rank_job: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    link_rates: Mapping[str, int] = field(default_factory=dict)
    oneway_rates: Mapping[str, int] = field(default_factory=dict)
    source_rates: Mapping[int, float] = field(default_factory=dict)
    shared_sources: Mapping[tuple[int, ...], float] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    acts: tuple[Act, ...] = ()
    must_cross: tuple[str, ...] = ()
    collide: bool = False


@dataclass(frozen=True)
class FaultKind:
    """One cause that the lab can inject. Each module of `gpu_worker.faults` exposes one as `FAULT`.

    `plan(setting, fault)` returns Changes or raises BadSpec. `fired(fault, raw)` returns its proof from what the run
    measured (`gpu_worker.lab.assemble.facts`) or raises FaultDidNotFire; where the experiment does
    not touch what the fault is about, the proof says `{"exercised": False}`.

    `shows` are the step variants whose reading the fault must move out of its healthy finding, `spares` those that
    must stay healthy; `lab matrix` holds every fault to them, in `trial` where the fault needs a setting of its own.
    """

    id: str
    title: str
    description: str
    place_kind: PlaceKind
    params: type[Params]
    plan: Callable[[Setting, Fault], Changes]
    fired: Callable[[Fault, Mapping[str, Any]], dict[str, Any]]
    shows: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    trial: Trial | None = None


@dataclass(frozen=True)
class Trial:
    """How a fault is tried by `lab matrix`: place, parameters and setting. Without one: defaults and four ranks."""

    place: str | None = None
    params: Mapping[str, float] = field(default_factory=dict)
    setting: Setting = field(default_factory=Setting)


def injected(raw: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """What the run's acts of a kind counted over the measured part: one mapping an act, with the act's own fields."""
    return [one for one in raw["injected"] if one["kind"] == kind]


def counted_of(raw: Mapping[str, Any], act: Act) -> Mapping[str, Any]:
    """What one act counted over the measured part, with its fields; two faults may do acts of the same kind."""
    return next(one for one in raw["injected"] if act.model_dump().items() <= one.items())


NOT_EXERCISED: dict[str, Any] = {"exercised": False}


def params_of(kind: type[ParamsT], fault: Fault) -> ParamsT:
    """The fault's parameters with defaults filled in. Raises BadSpec that names value and bounds."""
    try:
        return kind.model_validate(dict(fault.params))
    except ValidationError as problem:
        first = problem.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(kind.model_fields) or "none"
            raise BadSpec(f"fault {fault.cause} has no parameter {name}; it has {known}") from None
        bounds = bounds_text(kind, name)
        raise BadSpec(f"fault {fault.cause}: {name} is {first['input']!r}, but must be {bounds}") from None


def bounds_text(kind: type[Params], name: str) -> str:
    """`1e+07 to 3.9e+08 bit/s`, from the parameter's schema."""
    schema = kind.model_json_schema()["properties"][name]
    return f"{schema.get('minimum', '-')} to {schema.get('maximum', '-')} {schema.get('unit', '')}".strip()


def rank_of(setting: Setting, fault: Fault) -> int:
    """The rank of the place `rank:2`, or of `host:3` by the placement. Raises BadSpec."""
    kind, _, number = (fault.place or "").partition(":")
    if kind == "rank" and number.isdigit() and int(number) < len(setting.placement):
        return int(number)
    if kind == "host" and number.isdigit() and int(number) in setting.placement:
        return setting.placement.index(int(number))
    last = len(setting.placement) - 1
    raise BadSpec(f"fault {fault.cause} needs a place from rank:0 to rank:{last}, not {fault.place!r}")


def trained(raw: Mapping[str, Any], rank: int = 0) -> bool:
    """Whether the main phase of the run was the training job, timed step by step, and had that rank.

    A script that may hang only counts its steps, and a job that saves keeps no times of its phases.
    """
    ranks = raw["ranks"]
    return len(ranks) > rank and all(_is_timed(one.get("steps")) for one in ranks)


def _is_timed(steps: Any) -> bool:
    return isinstance(steps, list) and bool(steps) and "input_s" in steps[0]


def each_step(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every measured step of every rank."""
    return [step for rank in raw["ranks"] for step in rank["steps"]]


def prove_samples(raw: Mapping[str, Any], wanted: int) -> dict[str, Any]:
    """The proof that every rank really trained on so many samples in every step. Raises FaultDidNotFire."""
    seen = {step["samples"] for step in each_step(raw)}
    if seen != {wanted}:
        raise FaultDidNotFire(f"every step should train on {wanted} samples a rank, but they had {sorted(seen)}")
    return {"samples": wanted}


def refuse_place(fault: Fault) -> None:
    """Raises BadSpec where a fault that has no place was given one."""
    if fault.place is not None:
        raise BadSpec(f"fault {fault.cause} has no place, but was given {fault.place!r}")
