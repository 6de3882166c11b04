"""A rank's batches: which documents, how long, read by whom. Runs in a rank; imports torch."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_worker.jobs.shape import DIMENSIONS, RECORD_BYTES
from gpu_worker.ranks.loader import make_loader
from gpu_worker.ranks.source import RECORDS

WINDOW = DIMENSIONS.context + 1
LONGEST = 16.0  # windows of a document that a draw may ask for
MADE_UP_SEED = 99


@dataclass(frozen=True)
class Batch:
    """`tokens` is (rows, context + 1) bytes as int64: the windows of `samples` documents, packed."""

    tokens: Tensor
    ids: list[int]
    read_bytes: int

    @property
    def samples(self) -> int:
        return len(self.ids)


class Batches:
    """Endless batches of the documents that a rank's shuffled order names, as the job's knobs ask for them."""

    def __init__(self, job: dict[str, Any], rank: int, source: int) -> None:
        self._job = job
        self._order = torch.Generator().manual_seed(job["shuffle_seed"] * 1000 + (0 if job["same_shard"] else rank))
        self._made_up = torch.Generator().manual_seed(MADE_UP_SEED + rank)
        # Lengths differ between ranks even where all of them read the same shard.
        self._lengths = torch.Generator().manual_seed(job["shuffle_seed"] * 1000 + 500 + rank)
        self._loader = make_loader(source, job["loader_workers"], job["prefetch"], job["decode_passes"])
        self._ahead: deque[tuple[list[int], int]] = deque()
        self.merges = 0  # pairs of bytes that decoding merged, and processor time of the loader's workers
        self.loader_cpu_s = 0.0

    def next(self) -> Batch:
        """The next batch; waits for the loader where it has none ready."""
        if self._job["synthetic"]:
            return self._synthetic()
        self._ask()
        ids, place = self._ahead.popleft()
        decoded = self._loader.take()
        self.merges += decoded.merges
        self.loader_cpu_s += decoded.cpu_s
        for _ in range(self._loader.depth - len(self._ahead)):
            self._ask()  # while the step computes
        documents = torch.frombuffer(decoded.documents, dtype=torch.uint8).view(len(ids), RECORD_BYTES)
        return Batch(self._pack(documents, place), ids, len(decoded.documents))

    def _ask(self) -> None:
        """Draws a batch in the rank's order and asks the loader for it, unless enough is under way."""
        if self._ahead and len(self._ahead) >= self._loader.depth:
            return
        ids = torch.randint(RECORDS, (self._job["microbatch"],), generator=self._order).tolist()
        place = int(torch.randint(RECORD_BYTES - WINDOW, (1,), generator=self._order))
        self._loader.ask(ids)
        self._ahead.append((ids, place))

    def _pack(self, documents: Tensor, place: int) -> Tensor:
        """(rows, context + 1): as much of each document as its length says, from `place` on, one after the other."""
        count = documents.shape[0]
        rows = self._rows(count)
        each = math.ceil(rows * WINDOW / count)
        first = min(place, RECORD_BYTES - each)
        return documents[:, first : first + each].reshape(-1)[: rows * WINDOW].view(rows, WINDOW).long()

    def _rows(self, count: int) -> int:
        """Windows of a batch: one a document, unless documents are longer, or differ in length step by step."""
        windows, sigma = self._job["windows"], self._job["length_spread"]
        if sigma:
            drawn = float(torch.randn(1, generator=self._lengths))
            windows *= math.exp(sigma * drawn - sigma * sigma / 2)
        return max(1, round(count * min(windows, LONGEST)))

    def _synthetic(self) -> Batch:
        """As many made-up bytes as a batch that is read; ids below zero, for no document has them."""
        count = self._job["microbatch"]
        rows = self._rows(count)
        tokens = torch.randint(DIMENSIONS.vocabulary, (rows, WINDOW), generator=self._made_up)
        return Batch(tokens, [-1] * count, 0)
