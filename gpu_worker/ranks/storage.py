"""Where checkpoints go: a store of another process that takes bytes over a socket, as fast as it can or at a rate."""

from __future__ import annotations

import socket
import time

PIECE_BYTES = 1 << 16
PACE_S = 0.005
WINDOW_BYTES = 8192


def serve_storage(own: socket.socket, bytes_per_s: float | None) -> None:
    """Takes whatever comes until the writer hangs up, and acknowledges each object; `bytes_per_s` limits it.

    An object is eight bytes of length and its body.
    """
    with own:
        while header := own.recv(8, socket.MSG_WAITALL):
            _take(own, int.from_bytes(header, "big"), bytes_per_s)
            own.sendall(b"k")


def _take(own: socket.socket, size: int, bytes_per_s: float | None) -> None:
    begun, taken = time.monotonic(), 0
    piece = PIECE_BYTES if bytes_per_s is None else max(1, int(bytes_per_s * PACE_S))
    while taken < size:
        got = len(own.recv(min(piece, size - taken)))
        if not got:
            return
        taken += got
        if bytes_per_s is not None:
            # What a full disk queue does: the next piece is taken once the rate allows it.
            time.sleep(max(0.0, begun + taken / bytes_per_s - time.monotonic()))


class Storage:
    """A writer's end."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        # Little is taken ahead, as by a remote store with a small window: a slow one is felt at once.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WINDOW_BYTES)

    def write(self, body: bytes) -> None:
        """Returns once the store has all of it. Raises OSError where the store is gone."""
        self._socket.sendall(len(body).to_bytes(8, "big") + body)
        if not self._socket.recv(1):
            raise OSError("the checkpoint store hung up")
