"""Stops and continues the processes of a host in short periods, as a clock that is throttled does: work in slices."""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene

COUNT = struct.Struct("=Qd")


class StopContinue(Act):
    """Every process of `host` is stopped for off_s after every on_s."""

    kind: Literal["stop-continue"] = "stop-continue"
    host: int
    on_s: float = Field(gt=0)
    # Longer pauses also starve the library's own thread, and the microbenchmark would accuse the fabric.
    off_s: float = Field(gt=0, le=0.02)


class Throttle:
    """The count is shared memory, so that the conductor can read what its child does."""

    def __init__(self, act: StopContinue, scene: Scene) -> None:
        self._act = act
        self._shared = mmap.mmap(-1, COUNT.size)
        victims = scene.pids_on(act.host)
        self._victims = len(victims)
        if victims:
            scene.fork(lambda: self._run(victims))

    def _run(self, victims: Sequence[int]) -> None:
        """For ever; the conductor ends it. The ranks of one host stop together."""
        count, stopped_s = 0, 0.0
        while True:
            time.sleep(self._act.on_s)
            for pid in victims:
                os.kill(pid, signal.SIGSTOP)
            begun = time.monotonic()
            time.sleep(self._act.off_s)
            for pid in victims:
                os.kill(pid, signal.SIGCONT)
            count, stopped_s = count + 1, stopped_s + time.monotonic() - begun
            COUNT.pack_into(self._shared, 0, count, stopped_s)

    def count(self) -> Mapping[str, float]:
        stops, stopped_s = COUNT.unpack_from(self._shared, 0)
        return {"stops": stops, "stopped_s": stopped_s}

    def stop(self) -> None:
        """The conductor ends the child with the ranks."""


INJECTOR = Injector(act=StopContinue, stage="ranks", start=Throttle)
