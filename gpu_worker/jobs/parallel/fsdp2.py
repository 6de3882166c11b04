"""FSDP2: each block's weights are gathered before it computes and its gradients scattered after. Runs in a rank.

On processors and gloo the thread waits for both: nothing is hidden behind compute, which a GPU's streams would do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter

from gpu_worker.jobs.model import ByteModel
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.parallel.loop import one_pass
from gpu_worker.jobs.parallel.mesh import DATA
from gpu_worker.jobs.shape import DIMENSIONS


class _Allocating:
    def __init__(self, clock: Clock, group: Group) -> None:
        self.clock, self.group = clock, group

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.empty(*size, dtype=dtype, device=device)


class RecordedAllGather(_Allocating, AllGather):
    """FSDP's all-gather with a record of each."""

    def __call__(
        self, output_tensor: Tensor, input_tensor: Tensor, group: dist.ProcessGroup, async_op: bool = False
    ) -> None:
        def act() -> None:
            dist.all_gather_single(output_tensor, input_tensor, group=group)

        self.clock.wait_for("all-gather", self.group, output_tensor.nbytes, act)


class RecordedReduceScatter(_Allocating, ReduceScatter):
    """FSDP's reduce-scatter with a record of each."""

    def __call__(
        self, output_tensor: Tensor, input_tensor: Tensor, group: dist.ProcessGroup, op: Any, async_op: bool = False
    ) -> None:
        def act() -> None:
            dist.reduce_scatter_single(output_tensor, input_tensor, op=op, group=group)

        self.clock.wait_for("reduce-scatter", self.group, input_tensor.nbytes, act)


def shard(model: ByteModel) -> ByteModel:
    """The model as FSDP2 units: each block, then what is left around them."""
    for block in model.blocks:
        fully_shard(block)
    return fully_shard(model)


class Sharded:
    """The plain job's model, its weights, gradients and optimizer state in shards over all ranks."""

    def __init__(self, rank: int, clock: Clock) -> None:
        self._clock = clock
        self.model = shard(ByteModel())
        world = tuple(range(dist.get_world_size()))
        assert dist.group.WORLD is not None
        group = Group(DATA, world, rank, dist.group.WORLD)
        for module in self.model.modules():
            if isinstance(module, FSDPModule):
                module.set_custom_all_gather(RecordedAllGather(clock, group))
                module.set_custom_reduce_scatter(RecordedReduceScatter(clock, group))
        self.groups, self.context, self.replica, self.sharers = {DATA: group}, DIMENSIONS.context, rank, 1

    def train(self, tokens: Tensor) -> float:
        return one_pass(self.model, tokens, self._clock)

    def counted(self) -> dict[str, Any]:
        return {}


def make(plan: dict[str, Any], rank: int, clock: Clock) -> Sharded:
    return Sharded(rank, clock)
