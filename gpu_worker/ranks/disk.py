"""A rank's end of the run's storage: whole files, written and read over its host's link. Imports no torch."""

from __future__ import annotations

import io
import os
import signal
import socket
from collections.abc import Mapping
from typing import Any

from gpu_worker.launcher.disk import GET, LENGTH, PIECE_BYTES, PUT


class Storage:
    """Where the run's files are. `written_bytes` and `read_bytes` count what this rank moved."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self.folder: str = order["folder"]
        self._address = (order["address"], order["port"])
        self.written_bytes = 0
        self.read_bytes = 0

    def writer(self, path: str, *, die_after_bytes: int | None = None) -> Writer:
        """A stream into a new file. With `die_after_bytes` this process is killed once so much was sent."""
        return Writer(self, self._ask(PUT, path), die_after_bytes)

    def read(self, path: str) -> bytes:
        """The whole file. Raises FileNotFoundError."""
        with self._ask(GET, path) as own:
            (length,) = LENGTH.unpack(own.recv(LENGTH.size, socket.MSG_WAITALL))
            if length < 0:
                raise FileNotFoundError(f"no such file in the storage: {os.path.basename(path)}")
            body = bytearray(length)
            view, got = memoryview(body), 0
            while got < length:
                received = own.recv_into(view[got:])
                if not received:
                    raise OSError("the storage hung up")
                got += received
        self.read_bytes += length
        return bytes(body)

    def _ask(self, kind: bytes, path: str) -> socket.socket:
        own = socket.create_connection(self._address)
        name = path.encode()
        own.sendall(kind + LENGTH.pack(len(name)) + name)
        return own


class Writer(io.RawIOBase):
    """Pieces to the storage; `close` waits until all of them are on the disk."""

    def __init__(self, storage: Storage, own: socket.socket, die_after_bytes: int | None) -> None:
        super().__init__()
        self._storage, self._socket = storage, own
        self._held = bytearray()
        self._sent = 0
        self._die_after_bytes = die_after_bytes

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sent + len(self._held)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._held += view
        if len(self._held) >= PIECE_BYTES or self._die_after_bytes is not None:
            self._send()
        return len(view)

    def _send(self) -> None:
        if self._held:
            self._socket.sendall(LENGTH.pack(len(self._held)) + self._held)
            self._sent += len(self._held)
            self._storage.written_bytes += len(self._held)
            self._held = bytearray()
        if self._die_after_bytes is not None and self._sent >= self._die_after_bytes:
            os.kill(os.getpid(), signal.SIGKILL)

    def close(self) -> None:
        """Raises OSError where the disk holds less than was sent."""
        if self.closed:
            return
        super().close()
        self._send()
        with self._socket as own:
            own.sendall(LENGTH.pack(0))
            answer = own.recv(LENGTH.size, socket.MSG_WAITALL)
        if len(answer) < LENGTH.size or LENGTH.unpack(answer)[0] != self._sent:
            raise OSError("the storage did not take the whole file")
