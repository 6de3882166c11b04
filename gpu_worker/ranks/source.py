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


def serve_ranks(data_set: int, sockets: Sequence[socket.socket], bytes_per_s: Mapping[int, float]) -> None:
    """One thread a rank, until every rank has hung up. `bytes_per_s` limits the ranks that it names."""
    threads = [
        threading.Thread(target=_serve, args=(data_set, own, bytes_per_s.get(rank))) for rank, own in enumerate(sockets)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _serve(data_set: int, own: socket.socket, bytes_per_s: float | None) -> None:
    with own:
        while header := own.recv(INDEX.size, socket.MSG_WAITALL):
            (count,) = INDEX.unpack(header)
            wanted = own.recv(count * INDEX.size, socket.MSG_WAITALL)
            body = b"".join(
                os.pread(data_set, RECORD_BYTES, index * RECORD_BYTES) for (index,) in INDEX.iter_unpack(wanted)
            )
            _deliver(own, body, bytes_per_s)


def _deliver(own: socket.socket, body: bytes, bytes_per_s: float | None) -> None:
    if bytes_per_s is None:
        own.sendall(body)
        return
    begun, sent = time.monotonic(), 0
    while sent < len(body):
        # The end of a piece may be sent once the rate allows it, so that the whole body takes its full time.
        upto = min(len(body), sent + max(1, int(bytes_per_s * PACE_S)))
        time.sleep(max(0.0, begun + upto / bytes_per_s - time.monotonic()))
        own.sendall(body[sent:upto])
        sent = upto


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
