"""How a generation is written, timed and given its name. Imports torch."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner

from gpu_worker.checkpoints.files import StoredWriter
from gpu_worker.checkpoints.shape import STAGING, generation_name
from gpu_worker.checkpoints.state import state_of
from gpu_worker.checkpoints.trainer import Trainer
from gpu_worker.ranks.disk import Storage

_libc = ctypes.CDLL(None)
FAILURES = (Exception, CheckpointException)  # DCP's own is no Exception


@dataclass
class Saver:
    """Saves the trainer's state into the storage. `log` has one entry a save of this rank."""

    trainer: Trainer
    storage: Storage
    log: list[dict[str, Any]] = field(default_factory=list)
    failure: BaseException | None = None
    _pending: Future[Any] | None = None
    _named: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        # Collectives of a background save must not mix with those of training.
        self._group = dist.new_group(backend="gloo") if self.trainer.knobs.saver == "async" else None

    def save(self, *, newest: bool) -> BaseException | None:
        """What ended it on this rank, if anything did; the rest is in `log`. `newest`: faults of the last one apply."""
        arrived = time.monotonic()
        self.finish()
        entry: dict[str, Any] = {"step": self.trainer.steps, "error": None, "waited_s": time.monotonic() - arrived}
        self.log.append(entry)
        reset_peak()
        resident, written, begun = resident_bytes(), self.storage.written_bytes, time.monotonic()
        read = self.storage.read_bytes
        try:
            self._write(entry, begun, newest)
        except FAILURES as problem:
            self.failure, entry["error"] = problem, said(problem)
        entry["pause_s"] = time.monotonic() - begun
        entry.setdefault("durable_s", entry["pause_s"])
        entry["peak_bytes"] = max(0, peak_bytes() - resident)
        entry["bytes"] = self.storage.written_bytes - written
        entry["read_bytes"] = self.storage.read_bytes - read
        entry["written_before"] = written
        return self.failure

    def finish(self) -> None:
        """Waits for what is still being written."""
        if self._pending is not None:
            self._pending.result()
            self._named.wait()
            self._pending = None
            entry = self.log[-1]
            entry["bytes"] = self.storage.written_bytes - entry["written_before"]

    def _write(self, entry: dict[str, Any], begun: float, newest: bool) -> None:
        knobs, name = self.trainer.knobs, generation_name(self.trainer.steps)
        final = os.path.join(self.storage.folder, name)
        # An old generation's folder is written into as it is where it has that name already.
        path = final if os.path.exists(final) else final + STAGING
        killed = newest and knobs.killed_rank == self.trainer.rank
        half = self.log[-2]["bytes"] // 2 if killed and len(self.log) > 1 else None
        writer = StoredWriter(path, self.storage, copies=knobs.copies, die_after_bytes=half)
        everyone = newest and knobs.renames == "every-rank"
        if knobs.saver == "gather":
            self._gather(writer)
            self._give_name(path, final, everyone)
        elif knobs.saver == "async":
            self._named.clear()
            self._pending = dcp.async_save(
                state_of(self.trainer), storage_writer=writer, planner=_planner(), process_group=self._group
            )
            self._pending.add_done_callback(lambda _: self._written(entry, begun, path, final, everyone))
        else:
            dcp.save(state_of(self.trainer), storage_writer=writer, planner=_planner())
            self._give_name(path, final, everyone)
            if knobs.verifies:
                self._read_back(final)

    def _read_back(self, folder: str) -> None:
        """Every file of the generation, on every rank."""
        dist.barrier()  # else a rank may look for the name before it is given
        for name in sorted(os.listdir(folder)):
            self.storage.read(os.path.join(folder, name))

    def _gather(self, writer: StoredWriter) -> None:
        """Everything to rank 0, which alone writes."""
        state = state_of(self.trainer, whole=True)
        parts: list[Any] | None = [None] * self.trainer.ranks if self.trainer.rank == 0 else None
        dist.gather_object({kind: state.get(kind, {}) for kind in ("sampler", "rng")}, parts)
        if parts is not None:
            for kind in {"sampler", "rng"} & state.keys():
                state[kind] = {name: value for part in parts for name, value in part[kind].items()}
            dcp.save(state, storage_writer=writer, planner=_planner(), no_dist=True)
        dist.barrier()

    def _written(self, entry: dict[str, Any], begun: float, path: str, final: str, everyone: bool) -> None:
        entry["durable_s"] = time.monotonic() - begun
        try:
            self._give_name(path, final, everyone)
        finally:
            self._named.set()

    def _give_name(self, path: str, final: str, everyone: bool) -> None:
        if path != final and (everyone or self.trainer.rank == 0):
            os.rename(path, final)


def _planner() -> DefaultSavePlanner:
    # What every rank has goes into rank 0's file, so that the other files hold their ranks' own parts alone.
    return DefaultSavePlanner(dedup_save_to_lowest_rank=True)


def said(problem: BaseException) -> str:
    """An exception in one line: DCP gathers those of all ranks in one of its own, of which the first tells most."""
    failures = getattr(problem, "failures", None)
    if failures:
        rank, (inner, _) = sorted(failures.items())[0]
        return f"rank {rank}: {said(inner)}"
    text = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {text[0][:300] if text else ''}"


def resident_bytes() -> int:
    return _memory("VmRSS")


def peak_bytes() -> int:
    return _memory("VmHWM")


def reset_peak() -> None:
    """Freed memory goes back to the kernel, whose high-water mark of this process then starts anew."""
    # Else a second save would live on what the first one freed, and seem to need none.
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _memory(name: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
