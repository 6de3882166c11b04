"""From a spec to everything that the launcher needs to know, decided purely.

`plan_run(spec) -> RunPlan` composes the setting and the changes of each fault; `RunPlan.to_order()` is its JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from gpu_worker.errors import BadSpec
from gpu_worker.experiments import experiment_of
from gpu_worker.experiments.base import Phase, Setup
from gpu_worker.fabric.plan import (
    FABRIC_INTERFACE,
    LOOPBACK_INTERFACE,
    MANAGEMENT_INTERFACE,
    FabricPlan,
    host_count,
    plan_fabric,
)
from gpu_worker.faults import kind_of
from gpu_worker.faults.base import Changes
from gpu_worker.injectors.base import Act
from gpu_worker.jobs.shape import FLOAT32_BYTES
from gpu_worker.specs import ExperimentSpec, Job, Setting

MAX_RANKS = 16
MAX_MESSAGE_BYTES = 1 << 30
INTERFACE_NAMES = {"fabric": FABRIC_INTERFACE, "management": MANAGEMENT_INTERFACE}
BY_KEY = ("job", "rank_job", "link_rates", "oneway_rates", "source_rates", "shared_sources", "checkpoint")


@dataclass(frozen=True)
class RunPlan:
    """One run: what to build, what is broken, and its phases, of which the first is the main one."""

    spec: ExperimentSpec
    fabric: FabricPlan
    phases: tuple[Phase, ...]
    acts: tuple[Act, ...]
    source_rates: Mapping[int, float]
    shared_sources: Mapping[tuple[int, ...], float]
    must_cross: tuple[str, ...]
    collide: bool

    @property
    def placement(self) -> tuple[int, ...]:
        """Host of each rank in the main phase."""
        return self.phases[0].hosts

    @property
    def packed(self) -> bool:
        return self.phases[0].packed

    @property
    def job(self) -> Job:
        return self.phases[0].job

    @property
    def size_bytes(self) -> int:
        return self.phases[0].size_bytes

    @property
    def interface(self) -> str:
        return _interface(self.phases[0])

    def to_order(self) -> dict[str, Any]:
        """The plan as the launcher takes it."""
        return {
            "fabric": asdict(self.fabric),
            "acts": [act.model_dump() for act in self.acts],
            "phases": [self._phase(phase) for phase in self.phases],
            "source_rates": {str(rank): rate for rank, rate in self.source_rates.items()},
            "shared_sources": [[list(ranks), rate] for ranks, rate in self.shared_sources.items()],
            "deadline_s": self.spec.deadline_s,
        }

    def _phase(self, phase: Phase) -> dict[str, Any]:
        interface = _interface(phase)
        # A phase with ranks elsewhere (a baseline, a ladder) has other flows, of which nothing is asked. Those of ranks
        # that have exchanged their hosts have to meet again what they met before.
        as_job = interface == FABRIC_INTERFACE and sorted(phase.hosts) == sorted(self.placement)
        jobs = [_of_rank(phase.job, phase.rank_job.get(rank, {})) for rank in range(len(phase.hosts))]
        return {
            "name": phase.name,
            "experiment": self.spec.experiment,
            "ranks": [
                self._rank(host, interface, job.model_dump()) for host, job in zip(phase.hosts, jobs, strict=True)
            ],
            "body": phase.body,
            "fed": phase.fed,
            "size_bytes": phase.size_bytes,
            "repeats": phase.repeats,
            "arguments": dict(phase.arguments),
            "hang_after_s": phase.hang_after_s,
            "stored": phase.stored,
            "mortal": list(phase.mortal),
            "afterwards": phase.afterwards,
            "seed": self.spec.setting.seed,
            "must_cross": list(self.must_cross) if as_job else [],
            "collide": self.collide and as_job,
            "deadline_s": self.spec.deadline_s,
        }

    def _rank(self, host: int, interface: str, job: dict[str, Any]) -> dict[str, Any]:
        interfaces = (FABRIC_INTERFACE, MANAGEMENT_INTERFACE, LOOPBACK_INTERFACE)
        addresses = {name: self.fabric.address(host, name) for name in interfaces}
        return {"host": host, "interface": interface, "addresses": addresses, "job": job}


def plan_run(spec: ExperimentSpec) -> RunPlan:
    """Composes the spec. Raises BadSpec that names what does not fit and the repair."""
    _check(spec)
    setting = spec.setting
    changes = compose([kind_of(fault).plan(setting, fault) for fault in spec.faults])
    job = _of_rank(setting.job, changes.job)
    setup = Setup(
        spec=spec,
        hosts=changes.placement or setting.placement,
        job=job,
        rank_job=changes.rank_job,
        checkpoint=changes.checkpoint,
    )
    return RunPlan(
        spec=spec,
        fabric=plan_fabric(setting.topology, changes.link_rates, changes.oneway_rates),
        phases=experiment_of(spec.experiment).phases(setup),
        acts=changes.acts,
        source_rates=changes.source_rates,
        shared_sources=changes.shared_sources,
        must_cross=changes.must_cross,
        collide=changes.collide,
    )


def compose(all_changes: list[Changes]) -> Changes:
    """The changes of several faults as one. Raises BadSpec where two of them change the same thing."""
    merged: dict[str, Any] = {name: {} for name in BY_KEY}
    placement: tuple[int, ...] | None = None
    for changes in all_changes:
        for name, held in merged.items():
            new = getattr(changes, name)
            if both := held.keys() & new.keys():
                raise BadSpec(f"two faults change the same thing: {name.replace('_', ' ')} of {sorted(both)[0]}")
            held.update(new)
        if changes.placement is not None:
            if placement is not None:
                raise BadSpec("two faults change the placement; give one of them")
            placement = changes.placement
    return Changes(
        **merged,
        placement=placement,
        acts=tuple(act for changes in all_changes for act in changes.acts),
        must_cross=tuple(link for changes in all_changes for link in changes.must_cross),
        collide=any(changes.collide for changes in all_changes),
    )


def _interface(phase: Phase) -> str:
    return LOOPBACK_INTERFACE if phase.packed else INTERFACE_NAMES[phase.job.interface]


def _of_rank(job: Job, changed: Mapping[str, Any]) -> Job:
    try:
        return Job.model_validate({**job.model_dump(), **changed})
    except ValidationError as problem:
        first = problem.errors()[0]
        raise BadSpec(f"job: {'.'.join(map(str, first['loc']))} is {first['input']!r}: {first['msg']}") from None


def _check(spec: ExperimentSpec) -> None:
    _check_placement(spec.setting)
    if spec.size_bytes is not None and not FLOAT32_BYTES <= spec.size_bytes <= MAX_MESSAGE_BYTES:
        raise BadSpec(f"a message has {FLOAT32_BYTES} to {MAX_MESSAGE_BYTES} bytes, not {spec.size_bytes}")
    choices = experiment_of(spec.experiment).choices
    for name, value in spec.with_.items():
        if name not in choices:
            raise BadSpec(
                f"experiment {spec.experiment} has no parameter {name}; it has {', '.join(choices) or 'none'}"
            )
        if value not in choices[name]:
            raise BadSpec(f"{spec.experiment}: {name} is {value!r}, but must be {' or '.join(choices[name])}")


def _check_placement(setting: Setting) -> None:
    ranks, hosts = len(setting.placement), host_count(setting.topology)
    if not 2 <= ranks <= MAX_RANKS:
        raise BadSpec(f"a run has 2 to {MAX_RANKS} ranks, not {ranks}")
    if outside := [host for host in setting.placement if not 0 <= host < hosts]:
        raise BadSpec(f"the placement names host {outside[0]}, but the fabric has hosts 0 to {hosts - 1}")
    if len(set(setting.placement)) < ranks:
        raise BadSpec(f"the placement {setting.placement} puts two ranks on one host; give each its own")
