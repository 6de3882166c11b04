"""Which runs the matrix needs, decided purely from what the faults declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gpu_worker.errors import BadSpec
from gpu_worker.faults.base import FaultKind, Trial
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec, Fault, Setting, parse_key

Role = Literal["shows", "spares"]
DEFAULT_RANK_PLACE = "rank:1"


@dataclass(frozen=True)
class Pair:
    """One fault and one variant of a step: the run with the fault in it, and the same without."""

    fault: str
    variant: str
    role: Role
    faulted: ExperimentSpec
    healthy: ExperimentSpec


def pairs(kinds: Iterable[FaultKind]) -> list[Pair]:
    """Every declared pair, fault by fault, what must show first. Raises BadSpec for a variant that no probe has."""
    return [
        pair
        for kind in kinds
        for pair in (
            *(_pair(kind, variant, "shows") for variant in kind.shows),
            *(_pair(kind, variant, "spares") for variant in kind.spares),
        )
    ]


def launches(wanted: Iterable[Pair], runs: int) -> list[ExperimentSpec]:
    """Every run, each once. All first launches come first: an interrupted matrix is a smaller one."""
    specs = {_text(spec): spec for pair in wanted for spec in (pair.healthy, pair.faulted)}
    return [in_launch(spec, number) for number in range(runs) for spec in specs.values()]


def in_launch(spec: ExperimentSpec, number: int) -> ExperimentSpec:
    """The spec's launch of that number: other ports, hence other paths; nothing else differs."""
    setting = spec.setting.model_copy(update={"seed": spec.setting.seed + number})
    return spec.model_copy(update={"setting": setting})


def spec_for(variant: str, setting: Setting, faults: tuple[Fault, ...] = ()) -> ExperimentSpec:
    """The experiment that a step's variant reads, in a setting. Raises BadSpec that names the variant."""
    step, with_ = parse_key(variant)
    _check(variant, step, with_)
    name, inside = parse_key(PROBES[step].experiment(with_))
    return ExperimentSpec.model_validate({"experiment": name, "with": inside, "setting": setting, "faults": faults})


def _pair(kind: FaultKind, variant: str, role: Role) -> Pair:
    trial = kind.trial or Trial()
    place = trial.place or (DEFAULT_RANK_PLACE if kind.place_kind == "rank" else None)
    fault = Fault(cause=kind.id, place=place, params=dict(trial.params))
    try:
        faulted = spec_for(variant, trial.setting, (fault,))
    except BadSpec as problem:
        raise BadSpec(f"fault {kind.id} {role} {problem.reason}") from None
    return Pair(kind.id, variant, role, faulted, faulted.model_copy(update={"faults": ()}))


def _check(variant: str, step: str, with_: Mapping[str, str]) -> None:
    if step not in PROBES:
        raise BadSpec(f"{variant!r}, but there is no probe {step!r}; the lab has {', '.join(PROBES)}")
    parameters = PROBES[step].parameters
    if with_.keys() != parameters.keys():
        raise BadSpec(f"{variant!r}, but {step} takes {', '.join(parameters) or 'no parameters'}; give each a value")
    for name, value in with_.items():
        if value not in parameters[name]:
            raise BadSpec(f"{variant!r}, but {name} must be {' or '.join(parameters[name])}")


def _text(spec: ExperimentSpec) -> str:
    return spec.model_dump_json(by_alias=True)
