"""What the forms' models share: embeddings, blocks one after the other, and the loss. Runs in a rank; imports torch."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from gpu_worker.jobs.shape import Dimensions


class Decoder(nn.Module):
    """Predicts the next byte through the blocks of a form; embeddings and head are whole on every rank.

    Activations are kept: these models are small, and computing them again would double some forms' collectives.
    """

    def __init__(self, size: Dimensions, blocks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.token = nn.Embedding(size.vocabulary, size.width)
        self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, context + 1) bytes as int64 -> the mean loss."""
        return self.loss_at(tokens, torch.arange(tokens.shape[1] - 1))

    def loss_at(self, tokens: Tensor, places: Tensor) -> Tensor:
        """The mean loss of predicting what follows the bytes at these places of each sample."""
        stream = self.token(tokens[:, places]) + self.position(places)
        for block in self.blocks:
            stream = block(stream)
        logits = self.head(self.norm(stream))
        return functional.cross_entropy(logits.flatten(0, 1), tokens[:, places + 1].flatten())
