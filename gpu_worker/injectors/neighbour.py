"""Other processes that really compute on the core of one rank, all the time or in spells."""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import struct
import time
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene
from gpu_worker.ranks.cores import cores_of

SLOT = struct.Struct("=dQ")  # processor seconds, spells begun
PIECE_BYTES = 1 << 20  # hashed in a few milliseconds
MOST_PROCESSES = 8


class Neighbour(Act):
    """`processes` that compute on the core of the rank on `host`; in spells of about `on_s` with `off_s` between.

    A spell or a gap lasts three quarters to five quarters of its length. `off_s` of 0: they never rest.
    """

    kind: Literal["neighbour"] = "neighbour"
    host: int
    processes: int = Field(ge=1, le=MOST_PROCESSES)
    on_s: float = Field(default=1.0, gt=0)
    off_s: float = Field(default=0.0, ge=0)


class Neighbours:
    """Each child tells its processor time in shared memory; all rest and compute together."""

    def __init__(self, act: Neighbour, scene: Scene) -> None:
        self._shared = mmap.mmap(-1, SLOT.size * act.processes)
        for slot, core in enumerate([_core_of(act, scene)] * act.processes if act.host in scene.hosts else []):
            scene.fork(lambda s=slot, c=core: self._run(s, c, _spells(act, scene.seed)))  # type: ignore[misc]

    def _run(self, slot: int, core: set[int], spells: Iterator[tuple[float, float]]) -> None:
        """For ever; the conductor ends it."""
        os.sched_setaffinity(0, core)
        piece, begun = bytes(PIECE_BYTES), 0
        for on_s, off_s in spells:
            begun, until = begun + 1, time.monotonic() + on_s
            while time.monotonic() < until:
                hashlib.sha256(piece).digest()
                SLOT.pack_into(self._shared, slot * SLOT.size, time.process_time(), begun)
            time.sleep(off_s)

    def count(self) -> Mapping[str, float]:
        slots = list(SLOT.iter_unpack(self._shared))
        return {"cpu_s": sum(cpu_s for cpu_s, _ in slots), "spells": max(begun for _, begun in slots)}

    def stop(self) -> None:
        """The conductor ends the children with the ranks."""


def _core_of(act: Neighbour, scene: Scene) -> set[int]:
    """Where the rank's computing thread will be: it binds itself only later, when its body begins."""
    rank = scene.hosts.index(act.host)
    return cores_of(rank, "in-turn", sorted(os.sched_getaffinity(0)))


def _spells(act: Neighbour, seed: int) -> Iterator[tuple[float, float]]:
    draw = random.Random(f"neighbour {seed}")
    while True:
        yield act.on_s * draw.uniform(0.75, 1.25), act.off_s * draw.uniform(0.75, 1.25)


INJECTOR = Injector(act=Neighbour, stage="ranks", start=Neighbours)
