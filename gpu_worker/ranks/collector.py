"""The interpreter's garbage collector in a rank: how long it held the rank up, a heap for it, and when it runs."""

from __future__ import annotations

import gc
import time
from typing import Any


class Collector:
    """Counts the collections of this process and their time, as `gc.callbacks` tells them.

    `live_objects` containers are made and kept, as a loader's index or a tokenizer's tables would be; every full
    collection walks them. Every `every` steps, first in step `first`, `step` collects in full; 0 leaves it to the
    interpreter.
    """

    def __init__(self, live_objects: int = 0, every: int = 0, first: int = 0) -> None:
        self.collections, self.full_collections, self.spent_s = 0, 0, 0.0
        self._begun, self._step, self._every, self._first = 0.0, 0, every, first
        self.heap = _grow(live_objects)
        gc.callbacks.append(self._tell)

    def _tell(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._begun = time.monotonic()
            return
        self.collections += 1
        self.full_collections += info["generation"] == 2
        self.spent_s += time.monotonic() - self._begun

    def step(self) -> None:
        """To be called once in every step, where the interpreter might collect by itself."""
        if self._every and self._step % self._every == self._first % self._every:
            gc.collect()
        self._step += 1

    def counted(self) -> dict[str, Any]:
        return {
            "collections": self.collections,
            "full_collections": self.full_collections,
            "collection_s": round(self.spent_s, 5),
            "live_objects": len(self.heap),
        }


def _grow(objects: int) -> list[list[int]]:
    """So many lists. Collecting meanwhile would walk the unfinished heap again and again."""
    gc.disable()
    heap = [[number] for number in range(objects)]
    gc.enable()
    return heap
