"""The job that is saved and restored: FSDP2 on the small transformer, with a schedule and a loss scaler.

Gradients are kept in half precision, so that a scale too high really overflows. Imports torch.
"""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from gpu_worker.checkpoints.knobs import Knobs
from gpu_worker.checkpoints.shape import (
    DECAY,
    FIRST_SCALE,
    GROWTH_INTERVAL,
    LEARNING_RATE,
    MODELS,
    WARMUP_STEPS,
    shards_of,
)
from gpu_worker.checkpoints.streams import Feed
from gpu_worker.jobs.model import ByteModel
from gpu_worker.ranks.source import Reader


def rate_share(position: int) -> float:
    """Of the full learning rate: rises for WARMUP_STEPS, then decays."""
    if position < WARMUP_STEPS:
        return (position + 1) / (WARMUP_STEPS + 1)
    return float(DECAY ** (position - WARMUP_STEPS))


class Trainer:
    """One rank's share of the model, its optimizer, schedule, scaler and data. `steps` were done."""

    def __init__(self, plan: dict[str, Any], rank: int, source: int, knobs: Knobs) -> None:
        self.rank, self.ranks, self.knobs = rank, len(plan["ranks"]), knobs
        self.shape = MODELS[plan["arguments"]["model"]]
        self.steps = 0
        self.model: nn.Module = ByteModel(self.shape)
        fully_shard(self.model, mesh=init_device_mesh("cpu", (self.ranks,)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=LEARNING_RATE)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, rate_share)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=FIRST_SCALE, growth_interval=GROWTH_INTERVAL)
        self.feed = Feed(shards_of(rank, self.ranks), plan["job"]["shuffle_seed"], Reader(source), rank)
        self.restored = False  # whether it goes on from a checkpoint
        self.recorded: dict[str, Any] = {}  # the configuration that the checkpoint holds

    @property
    def settings(self) -> dict[str, Any]:
        """What the job is run with, as a checkpoint records it."""
        return {
            "optimizer": "AdamW",
            "samples_a_step": self.ranks * self.feed.samples,
            "noise_share": self.feed.noise,
            "ranks": self.ranks,
        }

    def step(self) -> dict[str, Any]:
        """One step; what it logs is the same on every rank but for `documents`."""
        begun = time.monotonic()
        rate = float(self.optimizer.param_groups[0]["lr"])
        documents, tokens = self.feed.batch(self.shape.context)
        if self.restored and self.knobs.sums_after == "other-order":
            tokens = tokens.flip(0)
        loss = self.model(tokens)
        self.scaler.scale(loss).backward()
        self._to_half_precision()
        logged = self._agree(loss)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        for _ in range(self._scheduler_steps()):
            self.scheduler.step()
        self.steps += 1
        return {
            "step": self.steps,
            "learning_rate": rate,
            "documents": documents,
            **logged,
            "scale": float(self.scaler.get_scale()),
            "seconds": time.monotonic() - begun,
        }

    def _to_half_precision(self) -> None:
        for gradient in self._gradients():
            gradient.copy_(gradient.half().float())

    def _agree(self, loss: Tensor) -> dict[str, Any]:
        """Mean loss, gradient norm and whether any rank's gradient overflowed; tells the scaler so."""
        self.scaler.unscale_(self.optimizer)
        found = self.scaler._per_optimizer_states[id(self.optimizer)]["found_inf_per_device"]
        squares = sum((gradient.double().square().sum() for gradient in self._gradients()), torch.zeros(()).double())
        overflowed = sum(float(_local(value)) for value in found.values())
        sums = torch.stack([loss.detach().double() / self.ranks, squares, torch.tensor(overflowed).double()])
        dist.all_reduce(sums)
        mean, square, inf = sums.tolist()
        for value in found.values():
            _local(value).fill_(float(inf > 0))  # a shard of the gradient cannot know of another's overflow
        return {"loss": mean, "gradient_norm": None if inf else square**0.5, "overflow": inf > 0}

    def _gradients(self) -> list[Tensor]:
        return [_local(p.grad) for p in self.model.parameters() if p.grad is not None]

    def _scheduler_steps(self) -> int:
        often = {"once": 1, "twice": 2, "once-a-rank": self.ranks, "twice-after-restart": 1 + self.restored}
        return often[self.knobs.scheduler_steps]


def _local(value: Tensor) -> Tensor:
    return value.to_local() if isinstance(value, DTensor) else value
