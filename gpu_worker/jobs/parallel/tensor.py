"""Tensor parallel: each layer's matrices are split over a group, which meets in four all-reduces a layer.

The split is Megatron's: query, key, value and the first feed-forward matrix by columns, the second of each pair by
rows; one all-reduce behind attention and feed-forward in the forward pass, one before each in the backward pass
(Shoeybi et al. 2019). Runs in a rank; imports torch.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from gpu_worker.jobs.model import Block
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.parallel.decoder import Decoder
from gpu_worker.jobs.parallel.loop import average_gradients, one_pass
from gpu_worker.jobs.parallel.mesh import DATA, lay_groups
from gpu_worker.jobs.shape import TENSOR_DIMENSIONS, Dimensions


class _IntoTheGroup(torch.autograd.Function):
    """Passes activations on, and sums their gradients over the group."""

    @staticmethod
    def forward(ctx: Any, stream: Tensor, clock: Clock, group: Group) -> Tensor:
        ctx.clock, ctx.group = clock, group
        return stream.view_as(stream)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return ctx.clock.all_reduce(gradient.contiguous(), ctx.group), None, None


class _OutOfTheGroup(torch.autograd.Function):
    """Sums activations over the group, and passes their gradients on."""

    @staticmethod
    def forward(ctx: Any, stream: Tensor, clock: Clock, group: Group) -> Tensor:
        return clock.all_reduce(stream.contiguous(), group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return gradient, None, None


class SplitBlock(nn.Module):
    """One group member's share of a block: its heads, and its columns of the feed-forward net."""

    def __init__(self, size: Dimensions, clock: Clock, group: Group) -> None:
        super().__init__()
        whole = Block(size)  # every member draws the same weights and keeps its share of them
        self.clock, self.group = clock, group
        self.heads, self.head_width = size.heads // group.size, size.width // size.heads
        self.norm_attention, self.norm_forward = whole.norm_attention, whole.norm_forward
        projections = whole.query_key_value.weight.view(3, size.width, size.width).chunk(group.size, dim=1)
        self.query_key_value = _linear(projections[group.index].reshape(-1, size.width))
        self.attention_out = _linear(whole.attention_out.weight.chunk(group.size, dim=1)[group.index])
        self.inner = _linear(whole.inner.weight.chunk(group.size, dim=0)[group.index])
        self.outer = _linear(whole.outer.weight.chunk(group.size, dim=1)[group.index])

    def forward(self, stream: Tensor) -> Tensor:
        """(batch, context, width) -> the same shape, equal on every member."""
        stream = stream + self._leave(self._attend(self._enter(self.norm_attention(stream))))
        return stream + self._leave(self.outer(functional.gelu(self.inner(self._enter(self.norm_forward(stream))))))

    def _attend(self, stream: Tensor) -> Tensor:
        batch, context, _ = stream.shape
        parts = self.query_key_value(stream).view(batch, context, 3, self.heads, self.head_width)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.attention_out(mixed.transpose(1, 2).reshape(batch, context, -1))

    def _enter(self, stream: Tensor) -> Tensor:
        return _IntoTheGroup.apply(stream, self.clock, self.group)

    def _leave(self, stream: Tensor) -> Tensor:
        return _OutOfTheGroup.apply(stream, self.clock, self.group)


def _linear(weight: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight = nn.Parameter(weight.detach().clone())
    return layer


class TensorParallel:
    """Tensor groups, and data-parallel groups of the ranks that hold the same share."""

    def __init__(self, plan: dict[str, Any], clock: Clock) -> None:
        self._clock = clock
        self.groups = lay_groups("tensor", plan["job"]["parallel"])
        split = self.groups["tensor"]
        size = TENSOR_DIMENSIONS
        self.model = Decoder(size, (SplitBlock(size, clock, split) for _ in range(size.layers)))
        self.context, self.replica, self.sharers = TENSOR_DIMENSIONS.context, self.groups[DATA].index, split.size

    def train(self, tokens: Tensor) -> float:
        loss = one_pass(self.model, tokens, self._clock)
        average_gradients(list(self.model.parameters()), self.groups[DATA], self._clock)
        return loss

    def counted(self) -> dict[str, Any]:
        return {}


def make(plan: dict[str, Any], rank: int, clock: Clock) -> TensorParallel:
    return TensorParallel(plan, clock)
