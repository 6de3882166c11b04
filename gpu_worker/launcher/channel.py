"""JSON lines over a pipe or a socket, with deadlines. Both ends of every conversation in the lab use it."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any


class ChannelClosed(Exception):
    """The other end is gone."""


class DeadlinePassed(Exception):
    """Nothing arrived in time."""


class Channel:
    """Two descriptors: lines are read from one and written to the other (they may be the same)."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self._held = b""

    def fileno(self) -> int:
        return self.reading

    def send(self, message: dict[str, Any]) -> None:
        """Writes one line. Raises ChannelClosed."""
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self.writing, data) :]
        except OSError as problem:
            raise ChannelClosed(str(problem)) from None

    def receive(self, deadline: float) -> dict[str, Any]:
        """The next line; `deadline` on time.monotonic(). Raises ChannelClosed or DeadlinePassed."""
        while (line := self.take()) is None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reading], [], [], left)[0]:
                raise DeadlinePassed
            self.fill()
        return line

    def take(self) -> dict[str, Any] | None:
        """A line that has already arrived, or None."""
        line, newline, rest = self._held.partition(b"\n")
        if not newline:
            return None
        self._held = rest
        message: dict[str, Any] = json.loads(line)
        return message

    def fill(self) -> None:
        """Reads what is there, once. Raises ChannelClosed at the end of the stream."""
        try:
            data = os.read(self.reading, 1 << 16)
        except OSError as problem:
            raise ChannelClosed(str(problem)) from None
        if not data:
            raise ChannelClosed("end of stream")
        self._held += data

    def close(self) -> None:
        for descriptor in {self.reading, self.writing}:
            os.close(descriptor)
