"""The transformer that the job trains. Imports torch: for the ranks alone."""

from __future__ import annotations

import torch
import torch.nn.functional as functional
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gpu_worker.jobs.shape import DIMENSIONS, Dimensions


class Block(nn.Module):
    """Causal self-attention and a feed-forward net, each behind a norm and added to the stream."""

    def __init__(self, size: Dimensions) -> None:
        super().__init__()
        self.heads = size.heads
        self.norm_attention = nn.LayerNorm(size.width)
        self.query_key_value = nn.Linear(size.width, 3 * size.width)
        self.attention_out = nn.Linear(size.width, size.width)
        self.norm_forward = nn.LayerNorm(size.width)
        self.inner = nn.Linear(size.width, size.inner)
        self.outer = nn.Linear(size.inner, size.width)

    def forward(self, stream: Tensor) -> Tensor:
        """(batch, context, width) -> the same shape."""
        stream = stream + self._attend(self.norm_attention(stream))
        return stream + self.outer(functional.gelu(self.inner(self.norm_forward(stream))))

    def _attend(self, stream: Tensor) -> Tensor:
        batch, context, width = stream.shape
        parts = self.query_key_value(stream).view(batch, context, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.attention_out(mixed.transpose(1, 2).reshape(batch, context, width))


class ByteModel(nn.Module):
    """Predicts the next byte. `forward` takes (batch, context + 1) bytes as int64 and returns the mean loss.

    It has no buffers: DDP would send them round in every forward pass, and a late rank would stall its peers there.
    """

    def __init__(self, size: Dimensions = DIMENSIONS) -> None:
        super().__init__()
        self.token = nn.Embedding(size.vocabulary, size.width)
        self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        stream = self.token(tokens[:, :-1]) + self.position(torch.arange(tokens.shape[1] - 1))
        for block in self.blocks:
            # Activations are computed again in the backward pass, as in large jobs, which lack the memory for them.
            stream = checkpoint(block, stream, use_reentrant=False)
        logits = self.head(self.norm(stream))
        return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
