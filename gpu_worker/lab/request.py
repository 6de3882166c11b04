"""From the words of a command line to an ExperimentSpec. Pure; raises BadSpec with a sentence for the person."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gpu_worker.errors import BadSpec
from gpu_worker.faults import kind_of
from gpu_worker.faults.base import FaultKind
from gpu_worker.lab.plan import MAX_RANKS
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import Probe
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, Topology, parse_key
from grader.units import QuantityError, parse_quantity

DEFAULTS = {"size": "job", "placement": "as-job", "scope": "all"}
# What the slow networks carry where only the rate of the fast one is given: as in the flagship's setting.
SLOW_SHARE = 0.4
# A node's inside is so much faster than what leads out of it, unless the lab cannot shape that.
INSIDE_RATIO, MAX_RATE = 4, 10_000_000_000
TOPOLOGIES = ("leaf-spine", "two-tier", "flat")
DEFAULT_RANK_PLACE, DEFAULT_RANKS = "rank:1", 4


@dataclass(frozen=True)
class Request:
    """The options of `lab run`, as typed; None where left out."""

    probe: str
    faults: Sequence[str] = ()
    places: Sequence[str] = ()
    topology: str | None = None
    ranks: int | None = None
    size: str | None = None
    rate: str | None = None
    placement: str | None = None
    scope: str | None = None
    parameters: Sequence[str] = ()
    job: Sequence[str] = ()
    repeats: int = 5


def probe_of(request: Request) -> Probe:
    """Raises BadSpec that names the probes there are."""
    if request.probe not in PROBES:
        raise BadSpec(f"there is no probe {request.probe!r}; the lab has {', '.join(PROBES)}")
    return PROBES[request.probe]


def parameters_of(request: Request) -> dict[str, str]:
    """The probe's parameters with defaults. Raises BadSpec for one that it has not, or a choice that it has not."""
    probe = probe_of(request)
    given = _given(request, probe)
    for name, (option, value) in given.items():
        choices = probe.parameters.get(name)
        if choices is None:
            raise BadSpec(f"probe {probe.id} has no {option}; it has {', '.join(probe.parameters) or 'no parameters'}")
        if value not in choices:
            raise BadSpec(f"{option} is {value!r}, but must be {' or '.join(choices)}")
    typed = {name: value for name, (_, value) in given.items()}
    return {name: typed.get(name) or DEFAULTS.get(name, choices[0]) for name, choices in probe.parameters.items()}


def _given(request: Request, probe: Probe) -> dict[str, tuple[str, str]]:
    """By parameter: how the option was typed, and its value. An own option and `--with` may both name one."""
    named = request.size if request.size in probe.parameters.get("size", ()) else None
    options = {"size": named, "placement": request.placement, "scope": request.scope}
    given = {name: (f"--{name}", value) for name, value in options.items() if value is not None}
    for text in request.parameters:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadSpec(f"--with is {text!r}; write name=value, as in --with scope=all")
        if name in given and given[name][1] != value:
            raise BadSpec(f"{name} is given twice: {given[name][0]} {given[name][1]} and --with {text}")
        given[name] = (f"--with {name}", value)
    return given


def spec_of(request: Request) -> ExperimentSpec:
    """The experiment that the probe reads, in the setting and with the faults that were asked for."""
    probe, parameters = probe_of(request), parameters_of(request)
    name, with_ = parse_key(probe.experiment(parameters))
    faults = _faults(request)
    setting = _setting(request, faults)
    fields: dict[str, Any] = {"experiment": name, "setting": setting, "faults": faults}
    if name != "job":
        fields |= {"with": with_, "repeats": request.repeats, "size_bytes": _size(request, probe)}
    elif request.size is not None:
        raise BadSpec(f"probe {probe.id} reads the job, whose gradients have their own size; leave --size out")
    try:
        return ExperimentSpec.model_validate(fields)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise BadSpec(f"{'.'.join(map(str, first['loc']))} is {first['input']!r}: {first['msg']}") from None


def _job(request: Request, faults: Sequence[Fault]) -> Job:
    """The job of the options; without them the plain one, or the one that a fault of another form is tried on."""
    tried = [trial.setting.job for fault in faults if (trial := kind_of(fault).trial) is not None]
    base = next((job for job in tried if job.parallel.form != "ddp"), Job())
    fields: dict[str, Any] = base.model_dump()
    for text in request.job:
        _set_field(fields, text)
    try:
        return Job.model_validate(fields)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSpec(f"--job {where} is {first['input']!r}: {first['msg']}") from None


def _set_field(fields: dict[str, Any], text: str) -> None:
    """`parallel.form=fsdp2` -> fields["parallel"]["form"] = "fsdp2". Raises BadSpec."""
    name, equals, value = text.partition("=")
    outer, _, last = name.rpartition(".")
    held = fields.get(outer) if outer else fields
    if not equals or not isinstance(held, dict) or last not in held or isinstance(held[last], dict):
        raise BadSpec(f"--job is {text!r}; write field=value, as in --job measured_steps=3 or parallel.form=fsdp2")
    held[last] = value


def _setting(request: Request, faults: Sequence[Fault]) -> Setting:
    """As asked for; where neither topology nor ranks are, that of the first fault which needs one of its own."""
    own = [kind.trial.setting for kind in map(kind_of, faults) if kind.trial and _differs(kind.trial.setting)]
    if own and request.topology is None and request.ranks is None:
        shape, placement = own[0].topology.model_dump(), own[0].placement
    else:
        ranks, kind = request.ranks or DEFAULT_RANKS, request.topology or TOPOLOGIES[0]
        shape, placement = _shape(kind, ranks), tuple(range(ranks))
    if request.rate is not None:
        rate = round(_quantity("--rate", request.rate, "rate"))
        slow = max(1, round(rate * SLOW_SHARE))
        shape |= {"link_rate": rate, "far_uplink_rate": slow, "management_rate": slow}
        shape |= {"inside_rate": min(rate * INSIDE_RATIO, MAX_RATE)}
    job = _job(request, faults)
    return Setting(
        topology=Topology.model_validate(shape),
        placement=placement,
        baseline_placement=placement,
        job=job,
        baseline_job=job,
    )


def _differs(setting: Setting) -> bool:
    return (setting.topology, setting.placement) != (Setting().topology, Setting().placement)


def _shape(kind: str, ranks: int) -> dict[str, Any]:
    if not 2 <= ranks <= MAX_RANKS:
        raise BadSpec(f"--ranks is {ranks}, but must be 2 to {MAX_RANKS}")
    if kind not in TOPOLOGIES:
        raise BadSpec(f"--topology is {kind!r}, but must be {' or '.join(TOPOLOGIES)}")
    half = max(2, math.ceil(ranks / 2))
    return {"kind": kind, "hosts": ranks, "hosts_per_leaf": half, "hosts_per_node": half}


def _size(request: Request, probe: Probe) -> int | None:
    if request.size is None or request.size in probe.parameters.get("size", ()):
        return None
    return round(_quantity("--size", request.size, "data"))


def _faults(request: Request) -> tuple[Fault, ...]:
    if len(request.places) > len(request.faults):
        raise BadSpec(f"--place {request.places[-1]} belongs to no --fault; give one --place a fault, in their order")
    places = [*request.places, *([None] * len(request.faults))]
    return tuple(_fault(text, place) for text, place in zip(request.faults, places, strict=False))


def _fault(text: str, place: str | None) -> Fault:
    cause, _, rest = text.partition(":")
    kind = kind_of(Fault(cause=cause))
    params = dict(_parameter(kind, part) for part in rest.split(",") if part)
    default = DEFAULT_RANK_PLACE if kind.place_kind == "rank" else None
    return Fault(cause=cause, place=place or default, params=params)


def _parameter(kind: FaultKind, text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    schema: Mapping[str, Any] = kind.params.model_json_schema().get("properties", {})
    if not equals or name not in schema:
        known = ", ".join(schema) or "none"
        raise BadSpec(f"fault {kind.id} has no parameter {text!r}; write name=value, it has {known}")
    return name, _number(f"{kind.id}:{name}", value, schema[name].get("kind", "count"))


def _number(what: str, text: str, kind: str) -> float:
    try:
        number = float(text)
    except ValueError:
        if kind == "byte-rate":  # `120kB/s`: a rate like any other, kept in bytes
            return _quantity(what, text, "rate") / 8
        return _quantity(what, text, kind)
    if not math.isfinite(number):
        raise BadSpec(f"{what} is {text!r}, which is no finite number")
    return number


def _quantity(what: str, text: str, kind: Any) -> float:
    try:
        return parse_quantity(text, kind)
    except QuantityError as problem:
        raise BadSpec(f"{what}: {problem}") from None
