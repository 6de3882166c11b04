"""Where samples come from: shards of documents, each with a position and a random state. Imports torch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_worker.checkpoints.shape import DOCUMENTS_A_SHARD, NOISE_SHARE
from gpu_worker.jobs.shape import RECORD_BYTES
from gpu_worker.ranks.source import Reader


@functools.cache
def order_of(seed: int, shard: int, epoch: int) -> tuple[int, ...]:
    """The documents of a shard in the order of one epoch."""
    generator = torch.Generator().manual_seed(seed * 1009 + shard * 31 + epoch)
    order = torch.randperm(DOCUMENTS_A_SHARD, generator=generator) + shard * DOCUMENTS_A_SHARD
    return tuple(order.tolist())


@dataclass
class Stream:
    """One shard: `consumed` samples were taken from it; `random` decides windows and noise."""

    shard: int
    seed: int
    random: torch.Generator
    consumed: int = 0

    def next_document(self) -> int:
        epoch, at = divmod(self.consumed, DOCUMENTS_A_SHARD)
        self.consumed += 1
        return order_of(self.seed, self.shard, epoch)[at]

    def cut(self, document: Tensor, context: int, noise: float) -> Tensor:
        """(RECORD_BYTES,) bytes -> (context + 1,) tokens: a window at random, a share of its bytes replaced."""
        first = int(torch.randint(RECORD_BYTES - context - 1, (1,), generator=self.random))
        tokens = document[first : first + context + 1].long()
        noisy = torch.rand(tokens.shape, generator=self.random) < noise
        return torch.where(noisy, torch.randint(256, tokens.shape, generator=self.random), tokens)


class Feed:
    """A rank's shards. A batch has one sample of each, so that all ranks' batches are the same at any world size."""

    def __init__(self, shards: Sequence[int], seed: int, reader: Reader, rank: int = 0) -> None:
        self.rank = rank
        self.noise = NOISE_SHARE
        self.samples = len(shards)  # of a batch: the first so many streams give one each
        self.streams = [Stream(s, seed, torch.Generator().manual_seed(seed * 77 + s)) for s in shards]
        self._reader = reader

    def batch(self, context: int) -> tuple[list[int], Tensor]:
        """(the documents, (samples, context + 1) tokens)."""
        streams = self.streams[: self.samples]
        documents = [stream.next_document() for stream in streams]
        body = torch.frombuffer(self._reader.read(documents), dtype=torch.uint8).view(len(documents), RECORD_BYTES)
        tokens = [stream.cut(row, context, self.noise) for stream, row in zip(streams, body, strict=True)]
        return documents, torch.stack(tokens)

    @property
    def names(self) -> list[str]:
        return [f"shard{stream.shard}" for stream in self.streams]

    def positions(self, keys: str) -> dict[str, dict[str, int]]:
        """To be saved. `by-shard`: under the shard's name; `shared`: under its place among the rank's own."""
        names = self.names if keys == "by-shard" else [f"own{place}" for place in range(len(self.streams))]
        return {
            name: {"shard": stream.shard, "consumed": stream.consumed}
            for name, stream in zip(names, self.streams, strict=True)
        }

    def set_positions(self, saved: Mapping[str, Mapping[str, int]]) -> None:
        for stream, one in zip(self.streams, saved.values(), strict=True):
            stream.shard, stream.consumed = int(one["shard"]), int(one["consumed"])

    def random_states(self, keys: str) -> dict[str, Tensor]:
        """To be saved. `by-shard`: under the shard's name; `by-rank`: under the rank and its own number."""
        own = [f"rank{self.rank}own{place}" for place in range(len(self.streams))]
        names = self.names if keys == "by-shard" else own
        return {name: stream.random.get_state() for name, stream in zip(names, self.streams, strict=True)}

    def set_random_states(self, saved: Mapping[str, Any]) -> None:
        for stream, state in zip(self.streams, saved.values(), strict=True):
            stream.random.set_state(state)

    def shift(self, by: int) -> None:
        """Skips `by` samples of each stream without reading them."""
        for stream in self.streams:
            stream.consumed += by

    def rescale(self, by: float) -> None:
        """Every place multiplied, as one counted in a rank's samples is by another number of ranks."""
        for stream in self.streams:
            stream.consumed = round(stream.consumed * by)

    def reshuffle(self) -> None:
        """Another order of the data, from the places reached."""
        for stream in self.streams:
            stream.seed += 1

    def rewind(self) -> None:
        for stream in self.streams:
            stream.consumed = 0
