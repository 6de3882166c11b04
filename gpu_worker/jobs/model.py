"""The transformer that the job trains. Imports torch: for the ranks alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gpu_worker.jobs.shape import DIMENSIONS, Dimensions

AfterBlock = Callable[[Tensor], Tensor]


class Products:
    """How the products of a block are made, and how many were: as they come, sliced, or on a slow path."""

    def __init__(self, *, rows: int, slow: bool, counts: Counter[str]) -> None:
        self._rows, self.slow, self._counts = rows, slow, counts

    def linear(self, layer: nn.Linear, stream: Tensor) -> Tensor:
        """`layer(stream)`, by the path that the job has."""
        if self.slow:
            return self._in_double(layer, stream)
        if self._rows:
            return self._in_slices(layer, stream)
        return layer(stream)  # type: ignore[no-any-return]

    def _in_double(self, layer: nn.Linear, stream: Tensor) -> Tensor:
        self._counts["double_products"] += 1
        return functional.linear(stream.double(), layer.weight.double(), layer.bias.double()).to(stream.dtype)

    def _in_slices(self, layer: nn.Linear, stream: Tensor) -> Tensor:
        """One small kernel after the other, each launched from Python."""
        flat = stream.reshape(-1, stream.shape[-1])
        slices = flat.split(self._rows)
        self._counts["sliced_products"] += len(slices)
        return torch.cat([layer(part) for part in slices]).view(*stream.shape[:-1], -1)


class Block(nn.Module):
    """Causal self-attention and a feed-forward net, each behind a norm and added to the stream."""

    def __init__(self, size: Dimensions, products: Products | None = None, small: int = 0) -> None:
        super().__init__()
        self.heads = size.heads
        self.products = products or Products(rows=0, slow=False, counts=Counter())
        # Registered first: their gradients are the last of the block, as the rule for buckets takes it.
        self.small = nn.ParameterList(nn.Parameter(torch.zeros(size.width)) for _ in range(small))
        self.norm_attention = nn.LayerNorm(size.width)
        self.query_key_value = nn.Linear(size.width, 3 * size.width)
        self.attention_out = nn.Linear(size.width, size.width)
        self.norm_forward = nn.LayerNorm(size.width)
        self.inner = nn.Linear(size.width, size.inner)
        self.outer = nn.Linear(size.inner, size.width)

    def forward(self, stream: Tensor) -> Tensor:
        """(batch, context, width) -> the same shape."""
        if len(self.small):
            stream = stream + self._offsets(stream.shape[1])
        stream = stream + self._attend(self.norm_attention(stream))
        inner = functional.gelu(self.products.linear(self.inner, self.norm_forward(stream)))
        return stream + self.products.linear(self.outer, inner)

    def _offsets(self, context: int) -> Tensor:
        """(context, width): a learned vector for each of the first positions, nothing for the others."""
        rows = torch.stack(list(self.small))
        return functional.pad(rows, (0, 0, 0, context - rows.shape[0]))

    def _attend(self, stream: Tensor) -> Tensor:
        batch, context, width = stream.shape
        joint = self.products.linear(self.query_key_value, stream)
        parts = joint.view(batch, context, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attend = _unfused_attention if self.products.slow else _fused_attention
        mixed = attend(query, key, value)
        return self.products.linear(self.attention_out, mixed.transpose(1, 2).reshape(batch, context, width))


def _fused_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def _unfused_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same, step by step and in double precision: scores, mask, softmax and mix each go through memory."""
    wide = query.double() @ key.double().transpose(-2, -1) / query.shape[-1] ** 0.5
    hidden = torch.ones(wide.shape[-2:], dtype=torch.bool).triu(1)
    return (wide.masked_fill(hidden, float("-inf")).softmax(-1) @ value.double()).to(query.dtype)


class ExtraBackward(torch.autograd.Function):
    """Hands the stream on; its backward pass multiplies the gradient by a weight `times` times more than it has to."""

    @staticmethod
    def forward(context: Any, stream: Tensor, weight: Tensor, times: int, counts: Counter[str]) -> Tensor:
        context.save_for_backward(weight)
        context.times, context.counts = times, counts
        return stream.view_as(stream)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (weight,) = context.saved_tensors
        (gradient,) = gradients
        for _ in range(context.times):
            gradient @ weight
        context.counts["extra_products"] += context.times
        return gradient, None, None, None


class ByteModel(nn.Module):
    """Predicts the next byte. `forward` takes (batch, context + 1) bytes as int64 and returns the mean loss.

    It has no buffers: DDP would send them round in every forward pass, and a late rank would stall its peers there.
    `job` are fields of `specs.Job`; `counts` says what its unusual paths computed. `after_block` sees the stream
    behind each block and may hand on another.
    """

    def __init__(self, size: Dimensions = DIMENSIONS, job: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        job = job or {}
        self.counts: Counter[str] = Counter()
        self.after_block: AfterBlock | None = None
        self._extra_backward = int(job.get("extra_backward", 0))
        self.token = nn.Embedding(size.vocabulary, size.width)
        self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(self._block(size, job, at) for at in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary)

    def _block(self, size: Dimensions, job: Mapping[str, Any], at: int) -> Block:
        slow = at < job.get("slow_blocks", 0)
        products = Products(rows=job.get("rows_a_kernel", 0), slow=slow, counts=self.counts)
        return Block(size, products, size.small_by_block(job.get("small_tensors", 0))[at])

    def forward(self, tokens: Tensor) -> Tensor:
        stream = self.token(tokens[:, :-1]) + self.position(torch.arange(tokens.shape[1] - 1))
        for block in self.blocks:
            # Activations are computed again in the backward pass, as in large jobs, which lack the memory for them.
            stream = checkpoint(block, stream, use_reentrant=False)
            if self._extra_backward:
                stream = ExtraBackward.apply(stream, block.attention_out.weight, self._extra_backward, self.counts)
            if self.after_block is not None:
                stream = self.after_block(stream)
        logits = self.head(self.norm(stream))
        return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
