"""Stops and continues ranks in short periods, as a clock that is throttled does: progress comes in slices."""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COUNT = struct.Struct("=Qd")


@dataclass(frozen=True)
class Stopped:
    """How often and how long processes were stopped so far."""

    stops: int
    stopped_s: float

    def since(self, other: Stopped) -> dict[str, float]:
        return {"stops": self.stops - other.stops, "stopped_s": self.stopped_s - other.stopped_s}


class Throttle:
    """`stops` is a list of {rank, on_s, off_s}; all of a run have the same periods. The count is shared memory."""

    def __init__(self, stops: Sequence[Mapping[str, Any]]) -> None:
        self._stops = stops
        self._shared = mmap.mmap(-1, COUNT.size)

    def run(self, pids: Sequence[int]) -> None:
        """Stops and continues for ever; the conductor ends it. The ranks of one host stop together."""
        victims = [pids[stop["rank"]] for stop in self._stops]
        on_s, off_s = self._stops[0]["on_s"], self._stops[0]["off_s"]
        count, stopped_s = 0, 0.0
        while True:
            time.sleep(on_s)
            for pid in victims:
                os.kill(pid, signal.SIGSTOP)
            begun = time.monotonic()
            time.sleep(off_s)
            for pid in victims:
                os.kill(pid, signal.SIGCONT)
            count, stopped_s = count + 1, stopped_s + time.monotonic() - begun
            COUNT.pack_into(self._shared, 0, count, stopped_s)

    def count(self) -> Stopped:
        return Stopped(*COUNT.unpack_from(self._shared, 0))
