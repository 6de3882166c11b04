"""The storage of a run: files on a memory-backed disk, which ranks write and read over the management network.

The server lives in the network namespace of the management bridge, so that each host has its own link to it, as a
node has to a parallel file system. Names, sizes and renames are seen at once in the shared folder, as through its
metadata server; contents travel over the link.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

from gpu_worker.fabric.build import Fabric
from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.fabric.scratch import folder_of, unnamed_files

ADDRESS = "10.39.0.254"
PREFIX_BITS = 24
BRIDGE = "mgmt"
DISK_BYTES = 512 << 20
PIECE_BYTES = 256 << 10
LENGTH = struct.Struct("=q")
PUT, GET = b"P", b"G"


def open_storage(fabric: Fabric, fork: Callable[[Callable[[], None]], int]) -> dict[str, Any]:
    """Makes the disk and starts its server with `fork`: `{"folder", "address", "port"}` for the ranks."""
    disk = unnamed_files(DISK_BYTES)  # held by the conductor: it lasts from phase to phase
    os.set_inheritable(disk, True)
    fabric.attach(BRIDGE, f"{ADDRESS}/{PREFIX_BITS}")
    enter_network(fabric.namespaces[BRIDGE])
    listening = socket.create_server((ADDRESS, 0), backlog=64)
    fork(lambda: _serve(listening))
    port = listening.getsockname()[1]
    listening.close()
    return {"folder": folder_of(disk), "address": ADDRESS, "port": port}


def _serve(listening: socket.socket) -> None:
    while True:
        own, _ = listening.accept()
        threading.Thread(target=_answer, args=(own,), daemon=True).start()


def _answer(own: socket.socket) -> None:
    """One file: `P` or `G`, the length of its path, the path; then pieces with their lengths, an empty one last."""
    with own:
        kind = own.recv(1, socket.MSG_WAITALL)
        path = _exactly(own, LENGTH.unpack(_exactly(own, LENGTH.size))[0]).decode()
        if kind == PUT:
            _take(own, path)
        else:
            _give(own, path)


def _take(own: socket.socket, path: str) -> None:
    """What has arrived is on the disk at once: a writer that dies leaves what it had sent."""
    with open(path, "wb", buffering=0) as file:
        while length := LENGTH.unpack(_exactly(own, LENGTH.size))[0]:
            while length:
                piece = own.recv(min(length, PIECE_BYTES))
                if not piece:
                    return
                file.write(piece)
                length -= len(piece)
    own.sendall(LENGTH.pack(os.stat(path).st_size))


def _give(own: socket.socket, path: str) -> None:
    """The file's size and its bytes; -1 where there is none."""
    if not os.path.exists(path):
        own.sendall(LENGTH.pack(-1))
        return
    with open(path, "rb") as file:
        own.sendall(LENGTH.pack(os.fstat(file.fileno()).st_size))
        own.sendfile(file)


def _exactly(own: socket.socket, count: int) -> bytes:
    data = own.recv(count, socket.MSG_WAITALL)
    if len(data) < count:
        raise SystemExit  # the writer is gone; its thread ends
    return data
