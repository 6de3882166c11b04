"""What ranks do in the experiments about checkpoints. Run in ranks; import torch."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

import torch
import torch.distributed as dist

from gpu_worker.checkpoints.checksums import checksums
from gpu_worker.checkpoints.inspecting import damage, generations
from gpu_worker.checkpoints.knobs import Knobs
from gpu_worker.checkpoints.loading import restore
from gpu_worker.checkpoints.saving import FAILURES, Saver, said
from gpu_worker.checkpoints.trainer import Trainer
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.cores import bind
from gpu_worker.ranks.disk import Storage
from gpu_worker.ranks.telemetry import usage


def run_train(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Trains to `last_step` with a save at each of `saves`: {"steps", "saves", "checksums", "generations", "usage"}.

    A failed save ends the job, on every rank, as it would end a real one. Rank 0 reads `generations`.
    """
    trainer, storage, arguments = _begin(plan, rank, source)
    saver = Saver(trainer, storage)
    measure_when_all_are_warm(channel)
    before, steps, sums = usage(), [], {}
    while trainer.steps < arguments["last_step"]:
        steps.append(trainer.step())
        if trainer.steps in arguments["saves"]:
            newest = trainer.steps == arguments["saves"][-1]
            sums[trainer.steps] = checksums(trainer, trainer.ranks) if arguments["checksums"] else []
            if not _all_saved(saver.save(newest=newest)):
                break
        if rank == 0:
            channel.send({"event": "progress", "done": trainer.steps, "total": arguments["last_step"]})
    saver.finish()
    result: dict[str, Any] = {"steps": steps, "saves": saver.log, "usage": usage().since(before)}
    failure = saver.failure
    if rank == 0 and not failure:
        damage(storage.folder, trainer.knobs, arguments["saves"])
    if rank == 0 or failure:  # whoever survives rank 0 has to tell what is there
        result |= {"checksums": sums, "generations": generations(storage.folder)}
    if failure and not isinstance(failure, OSError):
        _leave(channel, result)
    return result


def run_resume(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Restores and goes on to `last_step`: {"restored", "error", "at", "steps", "checksums", "usage"}.

    `at` is what the restored state says of itself: step counter, position of the schedule, scale of the loss.
    """
    trainer, storage, arguments = _begin(plan, rank, source)
    measure_when_all_are_warm(channel)
    before, begun = usage(), time.monotonic()
    result: dict[str, Any] = {"restored": None, "error": None, "steps": []}
    try:
        result["restored"] = restore(trainer, storage)
    except FAILURES as problem:
        result["error"] = said(problem)
        return {**result, "seconds": time.monotonic() - begun, "usage": usage().since(before)}
    result["seconds"] = time.monotonic() - begun
    result["at"] = {
        "step": trainer.steps,
        "schedule": trainer.scheduler.last_epoch,
        "learning_rate": trainer.scheduler.get_last_lr()[0],
        "scale": trainer.scaler.get_scale(),
        "consumed": [stream.consumed for stream in trainer.feed.streams],
        "settings": trainer.settings,
        "recorded": trainer.recorded,
    }
    sums = checksums(trainer, arguments["parts"])
    while trainer.steps < arguments["last_step"]:
        result["steps"].append(trainer.step())
    return {**result, "checksums": sums if rank == 0 else [], "usage": usage().since(before)}


def run_throughput(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Writes and reads a file of `size_bytes` through the storage, all ranks at once or rank 0 alone."""
    storage, arguments = Storage(plan["storage"]), plan["arguments"]
    path = f"{storage.folder}/throughput-{rank}"
    body = torch.zeros(arguments["size_bytes"], dtype=torch.uint8).numpy()
    measure_when_all_are_warm(channel)
    before = usage()
    result: dict[str, Any] = {"wrote_s": None, "read_s": None, "bytes": 0}
    for name, act in (("wrote_s", _write), ("read_s", _read)):
        dist.barrier()
        begun = time.monotonic()
        if rank < arguments["writers"]:
            result["bytes"] = act(storage, path, body)
            result[name] = time.monotonic() - begun
    return {**result, "usage": usage().since(before)}


def _write(storage: Storage, path: str, body: Any) -> int:
    with storage.writer(path) as stream:
        stream.write(body)
    return len(body)


def _read(storage: Storage, path: str, body: Any) -> int:
    got = storage.read(path)
    assert got == body.tobytes(), "the storage gave back other bytes"
    return len(got)


def _begin(plan: dict[str, Any], rank: int, source: int | None) -> tuple[Trainer, Storage, dict[str, Any]]:
    assert source is not None
    # A scale that must first come down makes the optimizer miss its first steps; the schedule moves all the same.
    warnings.filterwarnings("ignore", message=".*lr_scheduler.step.*")
    bind(rank, "in-turn")
    arguments = plan["arguments"]
    torch.manual_seed(plan["seed"] + arguments["first_weights"])
    trainer = Trainer(plan, rank, source, Knobs.model_validate(arguments["knobs"]))
    return trainer, Storage(plan["storage"]), arguments


def _leave(channel: Channel, result: dict[str, Any]) -> None:
    """Tells what is known and ends this process, as the failure ended the job.

    Its peers may wait for it and not for the rank that died: only the end of its connections tells them.
    """
    channel.send({"event": "done", "result": result})
    os._exit(0)


def _all_saved(failure: BaseException | None) -> bool:
    """Whether every rank's part was saved.

    Where a rank is gone its peers cannot ask each other any more.
    """
    if failure is not None and not isinstance(failure, OSError):
        return False
    failed = torch.tensor(0.0 if failure is None else 1.0)
    dist.all_reduce(failed)
    return bool(failed == 0)
