"""What a rank leaves behind whatever becomes of it: its log, its stacks, its Flight Recorder.

The conductor makes one box a rank before it forks it, so that nothing depends on what the rank still can do: the log is
a pipe, stamped with the conductor's clock as it arrives (as a log collector does); stacks and the dump of a rank that
raises go to files without names.
"""

from __future__ import annotations

import os
import pickle
import select
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any

LENGTH = struct.Struct("=Q")
LINES_KEPT = 400
DUMP, USAGE = b"d", b"u"


@dataclass
class BlackBox:
    """Descriptors of one rank's box, and what was read of it. `log` holds (seconds on the monotonic clock, line).

    `storage` is the rank's end of its connection to the store of checkpoints, `store` the other.
    """

    log_reading: int
    log_writing: int
    stacks: int
    flight: int
    asking: socket.socket
    answering: socket.socket
    store: socket.socket
    storage: socket.socket
    log: list[tuple[float, str]] = field(default_factory=list)
    _held: bytes = b""
    _received: bytes = b""
    _asked: int = 0
    _answered: int = 0

    def fileno(self) -> int:
        return self.log_reading

    def close_writing(self) -> None:
        """Gives up the rank's ends, once it has been forked."""
        os.close(self.log_writing)
        self.answering.close()
        self.storage.close()

    def keep_store(self) -> socket.socket:
        """The store's end, in the process that serves it: there the rank's end is closed, so that a hang-up is seen."""
        self.storage.close()
        return self.store

    def read_log(self) -> bool:
        """Takes the lines that have arrived; False where nothing was there."""
        if not select.select([self.log_reading], [], [], 0)[0]:
            return False
        data = os.read(self.log_reading, 1 << 16)
        now = time.monotonic()
        *lines, self._held = (self._held + data).split(b"\n")
        self.log += [(now, line.decode(errors="replace")) for line in lines if line.strip()]
        del self.log[: -LINES_KEPT or None]
        return bool(data)

    def drain_log(self) -> None:
        """All that is left in the pipe, its last line with or without an end. Never waits."""
        while self.read_log():
            pass
        if self._held.strip():
            self.log.append((time.monotonic(), self._held.decode(errors="replace")))
        self._held = b""

    def ask(self, question: bytes) -> None:
        """Asks the rank's second thread; a rank that is gone says nothing."""
        self._asked += 1
        try:
            self.asking.send(question)
        except OSError:
            pass

    def answer(self, deadline: float) -> dict[str, Any] | None:
        """What the rank's second thread says to the last question, or None where nothing came in time.

        Answers to earlier questions, which came too late, are passed over.
        """
        while True:
            while (body := self._whole_answer()) is not None:
                self._answered += 1
                if self._answered == self._asked:
                    answer: dict[str, Any] = pickle.loads(body)
                    return answer
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.asking], [], [], left)[0]:
                return None
            try:
                data = self.asking.recv(1 << 20)
            except OSError:
                return None
            if not data:
                return None
            self._received += data

    def _whole_answer(self) -> bytes | None:
        if len(self._received) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        body, self._received = self._received[LENGTH.size : end], self._received[end:]
        return body

    def stacks_size(self) -> int:
        return os.fstat(self.stacks).st_size

    def stacks_from(self, offset: int) -> str:
        return os.pread(self.stacks, self.stacks_size() - offset, offset).decode(errors="replace")

    def last_dump(self) -> bytes:
        """The Flight Recorder's dump that the rank wrote as it raised; empty where it wrote none."""
        return os.pread(self.flight, os.fstat(self.flight).st_size, 0)

    def close(self) -> None:
        for descriptor in (self.log_reading, self.stacks, self.flight):
            os.close(descriptor)
        self.asking.close()


def make_box() -> BlackBox:
    reading, writing = os.pipe()
    asking, answering = socket.socketpair()
    stacks, flight = os.memfd_create("stacks", 0), os.memfd_create("flight-recorder", 0)
    store, storage = socket.socketpair()
    return BlackBox(reading, writing, stacks, flight, asking, answering, store, storage)
