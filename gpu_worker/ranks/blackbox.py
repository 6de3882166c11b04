"""A rank's side of its black box. Imports torch: for the ranks alone.

A second thread answers the conductor while the first one is blocked in a collective, which releases the interpreter's
lock. Stacks are written by a signal's handler, which needs no lock at all.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_worker.launcher.blackbox import DUMP, LENGTH, BlackBox
from gpu_worker.ranks.telemetry import usage

STACKS_SIGNAL = signal.SIGUSR1


def install(box: BlackBox) -> None:
    """From now on what this process prints goes to its log, and it can be asked where it is."""
    os.dup2(box.log_writing, 1)
    os.dup2(box.log_writing, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would outlive the run
    faulthandler.register(STACKS_SIGNAL, file=box.stacks, all_threads=True)
    threading.Thread(target=_answer, args=(box.answering,), name="black box", daemon=True).start()


@contextlib.contextmanager
def dump_on_error(box: BlackBox) -> Iterator[None]:
    """Writes the Flight Recorder's dump where the block raises, as TORCH_NCCL_DUMP_ON_TIMEOUT does for NCCL."""
    try:
        yield
    except BaseException:
        os.pwrite(box.flight, flight_dump(), 0)
        raise


def flight_dump() -> bytes:
    """The Flight Recorder's own pickle of this process: collectives with their stacks."""
    from torch._C._distributed_c10d import _dump_fr_trace  # type: ignore[attr-defined]

    return bytes(_dump_fr_trace(True, True, False))


def _answer(asked: socket.socket) -> None:
    while question := asked.recv(1):
        answer: dict[str, Any] = {"process_cpu_s": usage().process_cpu_s}
        if question == DUMP:
            answer |= {"flight": flight_dump(), "threads": threads()}
        data = pickle.dumps(answer)
        asked.sendall(LENGTH.pack(len(data)) + data)


def threads() -> list[dict[str, Any]]:
    """Of each thread of this process: name, state, the kernel function it waits in, and times it gave up its core."""
    found = []
    for task in sorted(Path("/proc/self/task").iterdir(), key=lambda path: int(path.name)):
        with contextlib.suppress(OSError):
            status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
            found.append(
                {
                    "name": status["Name"],
                    "state": status["State"][:1],
                    "waits_in": (task / "wchan").read_text().strip("\0\n 0"),
                    "switches": int(status["voluntary_ctxt_switches"]),
                }
            )
    return found
