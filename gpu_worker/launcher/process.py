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
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

from gpu_worker.fabric.namespaces import die_with_parent, isolate
from gpu_worker.launcher.channel import Channel, ChannelClosed
from gpu_worker.ranks.source import make_data_set

LAST_WORDS_BYTES = 2000


def main() -> None:
    """Serves until the standard input ends."""
    channel = _private_streams()
    how, reason = find_way()
    if how is None:
        channel.send({"event": "unavailable", "reason": reason})
        return
    data_set = _prepare()
    channel.send({"event": "ready", "how": how})
    while True:
        try:
            order = channel.receive(time.monotonic() + 1e6)
        except ChannelClosed:
            return
        if order["order"] == "run" and not _serve_run(order["plan"], channel, how, data_set):
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
    for module in ("torch._dynamo", "gpu_worker.jobs.loop", "gpu_worker.jobs.microbenchmark"):
        # The first optimizer of each rank would otherwise import the compiler: a second of a core, every run.
        importlib.import_module(module)
    data_set = make_data_set()
    gc.collect()
    gc.freeze()  # forked children would otherwise copy these pages as soon as they collect
    return data_set


def _serve_run(plan: dict[str, Any], channel: Channel, how: str, data_set: int) -> bool:
    """One run from fork to grave; False where our own owner is gone."""
    from gpu_worker.launcher.conductor import conduct

    words = os.memfd_create("last-words", 0)
    reading, writing = os.pipe()
    launcher = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.dup2(words, 1)
        os.dup2(words, 2)
        _keep_the_run(launcher, plan, Channel(reading, writing), how, data_set, conduct)
    os.close(writing)
    try:
        alive = _forward(Channel(reading, reading), channel, plan["deadline_s"] + 5.0, words)
    finally:
        _end(pid, reading)
        os.close(words)
    return alive


def _keep_the_run(launcher: int, plan: dict[str, Any], out: Channel, how: str, data_set: int, conduct: Any) -> None:
    """The keeper: owns the run's namespaces, forks their first process, and takes it along when it dies."""
    try:
        isolate(how)
        die_with_parent()  # after the change of credentials, which would clear it
        if os.getppid() != launcher:
            os._exit(0)
        lifeline, held = os.pipe()
        if os.fork() == 0:
            die_with_parent()
            os.close(held)
            if not select.select([lifeline], [], [], 0)[0]:  # readable only once the keeper is gone
                conduct(plan, out, data_set)
            os._exit(0)
        os.close(out.writing)
        os.wait()
    except OSError as problem:
        out.send({"event": "failed", "kind": "LabUnavailable", "reason": f"namespaces were refused: {problem}"})
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _forward(run: Channel, owner: Channel, limit_s: float, words: int) -> bool:
    """Passes the run's lines to our owner until its last one; False where the owner hung up."""
    deadline, last = time.monotonic() + limit_s, ""
    while last not in ("result", "failed"):
        ready, _, _ = select.select([run, owner], [], [], max(0.0, deadline - time.monotonic()))
        try:
            if owner in ready:
                owner.fill()
        except ChannelClosed:
            return False
        if run not in ready and owner not in ready:
            owner.send(_failure("the run passed its deadline", words))
            return True
        try:
            if run in ready:
                run.fill()
        except ChannelClosed:
            owner.send(_failure("the run ended without a result", words))
            return True
        while (message := run.take()) is not None:
            last = message["event"]
            if message.get("kind") == "RunFailed":
                message = _failure(message["reason"], words)
            owner.send(message)
    return True


def _failure(reason: str, words: int) -> dict[str, Any]:
    """A `failed` line with the last lines that the run's processes printed."""
    size = os.fstat(words).st_size
    said = os.pread(words, LAST_WORDS_BYTES, max(0, size - LAST_WORDS_BYTES)).decode(errors="replace").strip()
    return {"event": "failed", "kind": "RunFailed", "reason": reason, "said": said}


def _end(pid: int, reading: int) -> None:
    """Kills the keeper, and with it the run, and waits until the last process of the run let go of the pipe."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while os.read(reading, 1 << 16):
        pass
    os.close(reading)


if __name__ == "__main__":
    try:
        main()
    except (ChannelClosed, KeyboardInterrupt):
        sys.exit(0)
