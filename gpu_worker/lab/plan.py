"""From a spec to everything that the launcher needs to know, decided purely.

`plan_run(spec) -> RunPlan` composes the setting and the changes of each fault; `RunPlan.to_order()` is its JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpu_worker.errors import BadSpec
from gpu_worker.fabric.plan import (
    FABRIC_INTERFACE,
    LOOPBACK_INTERFACE,
    MANAGEMENT_INTERFACE,
    FabricPlan,
    host_count,
    plan_fabric,
)
from gpu_worker.faults import kind_of
from gpu_worker.faults.base import Changes, Stop
from gpu_worker.jobs.shape import FLOAT32_BYTES, GRADIENT_BYTES, SMALL_MESSAGE_BYTES
from gpu_worker.specs import ExperimentSpec, Job, Setting

MAX_RANKS = 16
MAX_MESSAGE_BYTES = 1 << 30
INTERFACE_NAMES = {"fabric": FABRIC_INTERFACE, "management": MANAGEMENT_INTERFACE}
MICROBENCHMARK_CHOICES = {"size": ("small", "job"), "placement": ("as-job", "packed")}


@dataclass(frozen=True)
class RunPlan:
    """One run: what to build, where each rank runs, what it does, and what is broken."""

    spec: ExperimentSpec
    fabric: FabricPlan
    placement: tuple[int, ...]
    packed: bool
    interface: str
    job: Job
    size_bytes: int
    stops: tuple[tuple[int, Stop], ...]
    source_rates: Mapping[int, float]
    must_cross: tuple[str, ...]

    def to_order(self) -> dict[str, Any]:
        """The plan as the launcher takes it."""
        return {
            "fabric": asdict(self.fabric),
            "ranks": [self._rank(host) for host in self.placement],
            "experiment": self.spec.experiment,
            "job": self.job.model_dump(),
            "size_bytes": self.size_bytes,
            "repeats": self.spec.repeats,
            "seed": self.spec.setting.seed,
            "stops": [{"rank": rank, "on_s": stop.on_s, "off_s": stop.off_s} for rank, stop in self.stops],
            "source_rates": {str(rank): rate for rank, rate in self.source_rates.items()},
            "must_cross": list(self.must_cross),
            "deadline_s": self.spec.deadline_s,
        }

    def _rank(self, host: int) -> dict[str, Any]:
        interfaces = (FABRIC_INTERFACE, MANAGEMENT_INTERFACE, LOOPBACK_INTERFACE)
        addresses = {name: self.fabric.address(host, name) for name in interfaces}
        return {"host": host, "interface": self.interface, "addresses": addresses}


def plan_run(spec: ExperimentSpec) -> RunPlan:
    """Composes the spec. Raises BadSpec that names what does not fit and the repair."""
    _check(spec)
    setting = spec.setting
    changes = compose(setting, [kind_of(fault).plan(setting, fault) for fault in spec.faults])
    job = Job.model_validate({**setting.job.model_dump(), **changes.job})
    as_job = changes.placement or setting.placement
    packed = spec.with_.get("placement") == "packed"
    placement = (as_job[0],) * len(as_job) if packed else as_job
    interface = LOOPBACK_INTERFACE if packed else INTERFACE_NAMES[job.interface]
    return RunPlan(
        spec=spec,
        fabric=plan_fabric(setting.topology, changes.link_rates),
        placement=placement,
        packed=packed,
        interface=interface,
        job=job,
        size_bytes=_size(spec),
        stops=tuple((r, changes.host_stops[h]) for r, h in enumerate(placement) if h in changes.host_stops),
        source_rates=changes.source_rates,
        must_cross=changes.must_cross if interface == FABRIC_INTERFACE else (),
    )


def compose(setting: Setting, all_changes: list[Changes]) -> Changes:
    """The changes of several faults as one. Raises BadSpec where two of them change the same thing."""
    merged: dict[str, Any] = {"job": {}, "link_rates": {}, "host_stops": {}, "source_rates": {}}
    placement: tuple[int, ...] | None = None
    must_cross: list[str] = []
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
        must_cross += changes.must_cross
    return Changes(**merged, placement=placement, must_cross=tuple(must_cross))


def _size(spec: ExperimentSpec) -> int:
    if spec.experiment == "job":
        return GRADIENT_BYTES
    named = SMALL_MESSAGE_BYTES if spec.with_.get("size") == "small" else GRADIENT_BYTES
    return (spec.size_bytes or named) // FLOAT32_BYTES * FLOAT32_BYTES


def _check(spec: ExperimentSpec) -> None:
    setting = spec.setting
    ranks, hosts = len(setting.placement), host_count(setting.topology)
    if not 2 <= ranks <= MAX_RANKS:
        raise BadSpec(f"a run has 2 to {MAX_RANKS} ranks, not {ranks}")
    if outside := [host for host in setting.placement if not 0 <= host < hosts]:
        raise BadSpec(f"the placement names host {outside[0]}, but the fabric has hosts 0 to {hosts - 1}")
    if len(set(setting.placement)) < ranks:
        raise BadSpec(f"the placement {setting.placement} puts two ranks on one host; give each its own")
    if spec.size_bytes is not None and not FLOAT32_BYTES <= spec.size_bytes <= MAX_MESSAGE_BYTES:
        raise BadSpec(f"a message has {FLOAT32_BYTES} to {MAX_MESSAGE_BYTES} bytes, not {spec.size_bytes}")
    choices = MICROBENCHMARK_CHOICES if spec.experiment == "microbenchmark" else {}
    for name, value in spec.with_.items():
        if name not in choices:
            raise BadSpec(
                f"experiment {spec.experiment} has no parameter {name}; it has {', '.join(choices) or 'none'}"
            )
        if value not in choices[name]:
            raise BadSpec(f"{spec.experiment}: {name} is {value!r}, but must be {' or '.join(choices[name])}")
