"""Metrics that are summed over all ranks and read on the host in the middle of a step. Imports torch."""

from __future__ import annotations

from torch import Tensor

from gpu_worker.jobs.buckets import Buckets


class BlockingReads:
    """Reads `reads` metrics a step, spread over the blocks' forward and backward passes: of the norm of activations
    and of their gradients. Each waits until the number is on the host, and before it for whatever is in flight.
    """

    def __init__(self, buckets: Buckets, reads: int, blocks: int) -> None:
        self._buckets = buckets
        points = 2 * blocks
        self._reads_at = [reads // points + (at < reads % points) for at in range(points)]
        self._at = 0
        self.latest: list[float] = []

    def __call__(self, stream: Tensor) -> Tensor:
        """Behind a block: reads now, and again when the backward pass comes by."""
        self._read(stream.detach())
        stream.register_hook(self._read)
        return stream

    def _read(self, tensor: Tensor) -> None:
        count = self._reads_at[self._at]
        self._at = (self._at + 1) % len(self._reads_at)
        parts = tensor.tensor_split(count, dim=-1) if count else ()
        self.latest = [self._buckets.read_metric(part.norm()) for part in parts]
