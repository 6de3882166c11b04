"""Measures where a rank's memory goes in a form of the job: held, in a step, in a full gather, in an asynchronous save.

Runs in a rank; imports torch.
"""

from __future__ import annotations

import time
from typing import Any

import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, get_optimizer_state_dict
from torch.optim import Optimizer

from gpu_worker.jobs import memory
from gpu_worker.jobs.loop import Trainer, make_trainer
from gpu_worker.jobs.parallel.loop import Trainer as ParallelTrainer
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.telemetry import usage


def run_memory(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """{held, step, gather, staging, usage} of this rank in bytes, and seconds where something was moved."""
    assert source is not None
    trainer, model = _trainer(plan, rank, source)
    for _ in range(plan["job"]["warmup_steps"] + 1):  # the optimizer has no state before its first step
        trainer.step()
    measure_when_all_are_warm(channel)
    before = usage()
    found = {
        "held": memory.standing(model, trainer.optimizer),
        "step": memory.of_a_step(model, trainer.optimizer, trainer.step),
        "gather": _full_gather(model, trainer.optimizer),
        "staging": _staging(model, trainer.optimizer),
    }
    return {**found, "usage": usage().since(before)}


def _trainer(plan: dict[str, Any], rank: int, source: int) -> tuple[Trainer | ParallelTrainer, nn.Module]:
    if plan["job"]["parallel"]["form"] == "ddp":
        plain = make_trainer(plan, rank, source)
        return plain, plain.buckets.model
    other = ParallelTrainer(plan, rank, source)
    return other, other.form.model


def _states(model: nn.Module, optimizer: Optimizer, options: StateDictOptions) -> dict[str, Any]:
    return {
        "model": get_model_state_dict(model, options=options),
        "optimizer": get_optimizer_state_dict(model, optimizer, options=options),
    }


def _full_gather(model: nn.Module, optimizer: Optimizer) -> dict[str, float]:
    """The whole state on rank 0, as a save through one writer gathers it; of plain DDP it is there already."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    dist.barrier()
    begun = time.monotonic()
    state, peak = memory.extra_at_peak(model, optimizer, lambda: _states(model, optimizer, options))
    seconds = time.monotonic() - begun
    whole = memory.storage_bytes(memory.tensors_in(state))
    copied = whole - memory.shared_bytes(state, model, optimizer)
    return {"state_bytes": whole, "copied_bytes": copied, "peak_bytes": peak, "seconds": seconds}


def _staging(model: nn.Module, optimizer: Optimizer) -> dict[str, float]:
    """The copy that torch's asynchronous save makes before it lets training go on: of this rank's shards alone."""
    plain = StagingOptions(
        use_pinned_memory=False, use_shared_memory=False, use_async_staging=False, use_non_blocking_copy=False
    )
    state = _states(model, optimizer, StateDictOptions())
    stager = DefaultStager(plain)
    begun = time.monotonic()
    try:
        staged, peak = memory.extra_at_peak(model, optimizer, lambda: stager.stage(state))
    finally:
        stager.close()
    copied = memory.storage_bytes(memory.tensors_in(staged))
    return {"copied_bytes": copied, "peak_bytes": peak, "seconds": time.monotonic() - begun}
