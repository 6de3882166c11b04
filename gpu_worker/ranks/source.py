"""Where batches come from: a store of documents in memory-backed file, served over a socket to each rank.

The store answers requests for documents as fast as it can, or at a fixed rate where a fault makes it slow. A rank
waits for its documents, as it would for a remote file system without read-ahead.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpu_worker.jobs.shape import RECORD_BYTES

RECORDS = 400
INDEX = struct.Struct("=I")
PACE_S = 0.005


def make_data_set() -> int:
    """A memory-backed file of RECORDS documents of RECORD_BYTES: source text of the Python library. Its descriptor."""
    descriptor = os.memfd_create("data-set", os.MFD_CLOEXEC)
    text = bytearray()
    for file in sorted(Path(os.__file__).parent.glob("*.py")):
        text += file.read_bytes()
        if len(text) >= RECORDS * RECORD_BYTES:
            break
    if not text:
        raise OSError("the Python library has no source text to train on")
    whole = (bytes(text) * (RECORDS * RECORD_BYTES // len(text) + 1))[: RECORDS * RECORD_BYTES]
    os.write(descriptor, whole)
    return descriptor


class Pace:
    """A budget of bytes a second for whoever is served through it, piece by piece in the order of asking."""

    def __init__(self, bytes_per_s: float) -> None:
        self.piece_bytes = max(1, int(bytes_per_s * PACE_S))
        self._bytes_per_s = bytes_per_s
        self._free_at = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Of a delivery: what the budget did not give away before is lost."""
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic())

    def wait_for(self, size_bytes: int) -> None:
        """Until the budget has let that many bytes through: the end of a piece goes out when the rate allows it."""
        with self._lock:
            self._free_at += size_bytes / self._bytes_per_s
            free_at = self._free_at
        time.sleep(max(0.0, free_at - time.monotonic()))


def serve_ranks(
    data_set: int,
    sockets: Sequence[socket.socket],
    bytes_per_s: Mapping[int, float],
    shared: Sequence[tuple[Sequence[int], float]] = (),
) -> None:
    """One thread a rank, until every rank has hung up. `bytes_per_s` limits the ranks that it names, each for itself;
    an entry of `shared` gives several ranks one budget of bytes a second."""
    paces = {rank: Pace(rate) for rank, rate in bytes_per_s.items()}
    for ranks, rate in shared:
        paces |= dict.fromkeys(ranks, Pace(rate))
    threads = [
        threading.Thread(target=_serve, args=(data_set, own, paces.get(rank))) for rank, own in enumerate(sockets)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _serve(data_set: int, own: socket.socket, pace: Pace | None) -> None:
    with own:
        while header := own.recv(INDEX.size, socket.MSG_WAITALL):
            (count,) = INDEX.unpack(header)
            wanted = own.recv(count * INDEX.size, socket.MSG_WAITALL)
            body = b"".join(
                os.pread(data_set, RECORD_BYTES, index * RECORD_BYTES) for (index,) in INDEX.iter_unpack(wanted)
            )
            _deliver(own, body, pace)


def _deliver(own: socket.socket, body: bytes, pace: Pace | None) -> None:
    if pace is None:
        own.sendall(body)
        return
    pace.begin()
    for at in range(0, len(body), pace.piece_bytes):
        piece = body[at : at + pace.piece_bytes]
        pace.wait_for(len(piece))
        own.sendall(piece)


class Reader:
    """A rank's end: asks for documents by index and waits for them."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)

    def read(self, indices: Sequence[int]) -> bytearray:
        """The documents one after the other, RECORD_BYTES each. Raises OSError where the store is gone."""
        request = b"".join(INDEX.pack(number) for number in (len(indices), *indices))
        self._socket.sendall(request)
        body = bytearray(len(indices) * RECORD_BYTES)
        view, got = memoryview(body), 0
        while got < len(body):
            received = self._socket.recv_into(view[got:])
            if not received:
                raise OSError("the data store hung up")
            got += received
        return body

    def close(self) -> None:
        """Hangs up, which ends the store's service of this rank."""
        self._socket.close()
