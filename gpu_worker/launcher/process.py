"""The launcher: a process that imports torch once and forks every run of the lab.

    python -m gpu_worker.launcher.process

Reads orders and writes events as JSON lines on its standard streams. It imports torch and never computes: a backward
pass here would hang those of its forked children. It ends when its standard input ends, so it dies with the process
that started it, however that one dies.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import sys
import tempfile
import time
from typing import Any

from gpu_worker.fabric.namespaces import isolate
from gpu_worker.launcher.channel import Channel, ChannelClosed
from gpu_worker.launcher.kept import Fabrics, Kept
from gpu_worker.ranks.source import make_data_set

BODIES = (
    "gpu_worker.jobs.loop",
    "gpu_worker.jobs.memory",
    "gpu_worker.jobs.microbenchmark",
    "gpu_worker.jobs.watched",
    "gpu_worker.checkpoints.bodies",
)


def main() -> None:
    """Serves until the standard input ends."""
    channel = _private_streams()
    how, reason = find_way()
    if how is None:
        channel.send({"event": "unavailable", "reason": reason})
        return
    fabrics = Fabrics(how, _prepare())
    channel.send({"event": "ready", "how": how})
    try:
        _serve(channel, fabrics)
    finally:
        fabrics.close()


def _serve(channel: Channel, fabrics: Fabrics) -> None:
    while True:
        try:
            order = channel.receive(time.monotonic() + 1e6)
        except ChannelClosed:
            return
        if order["order"] == "run" and not _serve_run(order["plan"], channel, fabrics):
            return


def find_way() -> tuple[str | None, str]:
    """(`root` | `user` | None, why not): tried in a forked child, which alone is moved into namespaces."""
    problem = ""
    for how in ("root", "user") if os.geteuid() == 0 else ("user",):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                isolate(how)
                os.write(writing, b"ok")
            except OSError as error:
                os.write(writing, str(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        answer = os.read(reading, 500).decode()
        os.close(reading)
        os.waitpid(pid, 0)
        if answer == "ok":
            return how, ""
        problem = problem or answer
    return None, f"this system does not let us make network namespaces ({problem})"


def _private_streams() -> Channel:
    """A channel on copies of the standard streams: whatever prints from now on goes to standard error."""
    channel = Channel(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return channel


def _prepare() -> int:
    """Imports what ranks need, so that their forks have it already. Returns the data set's descriptor."""
    # Importing the compiler makes a cache folder: let it find one that is there, so that it leaves nothing behind.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())
    for module in ("torch._dynamo", *BODIES):
        # The first optimizer of each rank would otherwise import the compiler: a second of a core, every run.
        importlib.import_module(module)
    data_set = make_data_set()
    gc.collect()
    gc.freeze()  # forked children would otherwise copy these pages as soon as they collect
    return data_set


def _serve_run(plan: dict[str, Any], channel: Channel, fabrics: Fabrics) -> bool:
    """One run from its order to its grave, then a fabric for the next one; False where our own owner is gone."""
    channel.send({"event": "progress", "phase": "fabric", "done": 0, "total": 1})
    kept, taken = fabrics.for_run(plan)
    try:
        if taken["event"] != "taken":
            channel.send(taken)
            return True
        alive = _forward(kept, channel, plan["deadline_s"] + 5.0)
    finally:
        kept.end()
    if alive:
        fabrics.keep_ready(kept)
    return alive


def _forward(kept: Kept, owner: Channel, limit_s: float) -> bool:
    """Passes the run's lines to our owner until its last one; False where the owner hung up."""
    run, deadline, last = kept.lines, time.monotonic() + limit_s, ""
    while last not in ("result", "failed"):
        ready, _, _ = select.select([run, owner], [], [], max(0.0, deadline - time.monotonic()))
        try:
            if owner in ready:
                owner.fill()
        except ChannelClosed:
            return False
        if run not in ready and owner not in ready:
            owner.send(kept.failure("the run passed its deadline"))
            return True
        try:
            if run in ready:
                run.fill()
        except ChannelClosed:
            owner.send(kept.failure("the run ended without a result"))
            return True
        while (message := run.take()) is not None:
            last = message["event"]
            if message.get("kind") == "RunFailed":
                message = kept.failure(message["reason"])
            owner.send(message)
    return True


if __name__ == "__main__":
    try:
        main()
    except (ChannelClosed, KeyboardInterrupt):
        sys.exit(0)
