"""Numbers that a child counts and the conductor reads: shared memory, one writer each."""

from __future__ import annotations

import mmap
import struct


class SharedCounts:
    """Named numbers, zero at first. Made before the fork; the child writes, the conductor reads."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._form = struct.Struct(f"={len(names)}d")
        self._memory = mmap.mmap(-1, self._form.size)

    def write(self, *values: float) -> None:
        """All of them at once, in the order of their names."""
        self._form.pack_into(self._memory, 0, *values)

    def read(self) -> dict[str, float]:
        return dict(zip(self._names, self._form.unpack_from(self._memory, 0), strict=True))
