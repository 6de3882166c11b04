"""Stops and continues the processes of a host in short periods, as a clock that is throttled does: work in slices."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene

SHARED = struct.Struct("=Qdd")  # stops, seconds stopped, when the measured part began (0: not yet)
BEGUN_AT = struct.Struct("=d")
LONGEST_OFF_S = 0.02  # longer pauses also starve the library's own thread, and the microbenchmark accuses the fabric
HARDLY = 0.02  # below this share a pause is left out, and the clock looked at again after IDLE_S
IDLE_S = 0.02

Pause = tuple[float, float]  # seconds on, then seconds off


class StopContinue(Act):
    """Every process of `host` is stopped for off_s after every on_s.

    With `ramp_s` the first pauses of the measured part are rare, and their share grows to its full size in that time.
    """

    kind: Literal["stop-continue"] = "stop-continue"
    host: int
    on_s: float = Field(gt=0)
    off_s: float = Field(gt=0, le=LONGEST_OFF_S)
    ramp_s: float = Field(default=0.0, ge=0)


class Throttle:
    """What it counts is shared memory, so that the conductor can read what its child does.

    `pauses(since_begun)` is asked before each pause; `since_begun()` gives seconds since the measured part began.
    """

    def __init__(self, host: int, scene: Scene, pauses: Callable[[Callable[[], float]], Iterator[Pause]]) -> None:
        self._shared = mmap.mmap(-1, SHARED.size)
        self._victims = scene.pids_on(host)
        self._child = scene.fork(lambda: self._run(self._victims, pauses(self._since_begun))) if self._victims else None

    def begin(self) -> None:
        """The measured part begins."""
        BEGUN_AT.pack_into(self._shared, SHARED.size - BEGUN_AT.size, time.monotonic())

    def _since_begun(self) -> float:
        begun_at = SHARED.unpack_from(self._shared, 0)[2]
        return time.monotonic() - begun_at if begun_at else 0.0

    def _run(self, victims: Sequence[int], pauses: Iterator[Pause]) -> None:
        """For ever; the conductor ends it. The ranks of one host stop together."""
        count, stopped_s = 0, 0.0
        for on_s, off_s in pauses:
            time.sleep(on_s)
            if not off_s:
                continue
            for pid in victims:
                os.kill(pid, signal.SIGSTOP)
            begun = time.monotonic()
            time.sleep(off_s)
            for pid in victims:
                os.kill(pid, signal.SIGCONT)
            count, stopped_s = count + 1, stopped_s + time.monotonic() - begun
            struct.pack_into("=Qd", self._shared, 0, count, stopped_s)

    def count(self) -> Mapping[str, float]:
        stops, stopped_s, _ = SHARED.unpack_from(self._shared, 0)
        return {"stops": stops, "stopped_s": stopped_s}

    def stop(self) -> None:
        """The ranks run on. The child is waited for, lest it stops them again, and left to the conductor to reap."""
        if self._child is None:
            return
        os.kill(self._child, signal.SIGKILL)
        os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOWAIT)
        self._child = None
        for pid in self._victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def steady(act: StopContinue) -> Callable[[Callable[[], float]], Iterator[Pause]]:
    """The same pause again and again, or ever longer runs the earlier it is in the ramp."""

    def pauses(since_begun: Callable[[], float]) -> Iterator[Pause]:
        full = act.off_s / (act.on_s + act.off_s)
        while True:
            share = full * min(1.0, since_begun() / act.ramp_s) if act.ramp_s else full
            # The very `on_s` where nothing ramps: computing it anew would round.
            on_s = act.on_s if share == full else act.off_s * (1 - share) / max(share, 1e-9)
            yield (IDLE_S, 0.0) if share < HARDLY else (on_s, act.off_s)

    return pauses


INJECTOR = Injector(act=StopContinue, stage="ranks", start=lambda act, scene: Throttle(act.host, scene, steady(act)))
