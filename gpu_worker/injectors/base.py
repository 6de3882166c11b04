"""What is done to a run while it is built or while it runs: pure acts, each applied in one place.

A fault's plan names acts; the conductor starts them, reads their counts around the measured part, and stops them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from gpu_worker.specs import Frozen

if TYPE_CHECKING:
    from gpu_worker.fabric.build import Fabric
    from gpu_worker.fabric.paths import Path

Stage = Literal["fabric", "ranks"]


class Act(Frozen):
    """One thing that a fault does. A subclass sets `kind` to its module's id and adds its parameters."""

    kind: str


@dataclass(frozen=True)
class Scene:
    """Where an act is applied. `hosts` and `pids` are by rank, `paths` those of the ring's flows; all are empty at the
    stage `fabric`.

    `fork(work)` runs `work` in a child of the conductor, which dies with it, and gives its pid; the conductor ends it.
    """

    fabric: Fabric
    hosts: tuple[int, ...]
    pids: tuple[int, ...]
    fork: Callable[[Callable[[], None]], int]
    seed: int
    paths: tuple[Path, ...]

    def pids_on(self, host: int) -> list[int]:
        return [pid for at, pid in zip(self.hosts, self.pids, strict=True) if at == host]


class Running(Protocol):
    """An act at work. `count` gives numbers that only grow, for the proof that the fault fired.

    One that also has `begin()` is told when the measured part of a phase begins, one that has `progressed(steps)` how
    many measured steps are done.
    """

    def count(self) -> Mapping[str, float]: ...

    def stop(self) -> None: ...


@dataclass(frozen=True)
class Injector:
    """How acts of one kind are applied: `fabric` once the fabric is built, `ranks` once the ranks of a phase run."""

    act: type[Act]
    stage: Stage
    start: Callable[[Any, Scene], Running]
