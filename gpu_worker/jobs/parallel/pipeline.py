"""Pipeline parallel: stages of layers on different ranks, the batch cut into microbatches (GPipe's order).

All microbatches go forward, then all go backward; a stage waits while the pipeline fills and drains. torch's own
pipelining package runs a schedule as one call; here each wait and each pass of a microbatch has to be told apart, so
the order is written out. Runs in a rank; imports torch.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import Tensor, nn

from gpu_worker.jobs.model import Block
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.parallel.loop import average_gradients
from gpu_worker.jobs.parallel.mesh import DATA, lay_groups
from gpu_worker.jobs.shape import PIPELINE_DIMENSIONS, Dimensions, stage_layers


class Stage(nn.Module):
    """Some layers; the first stage also has the embeddings, the last the head."""

    def __init__(self, size: Dimensions, layers: int, *, first: bool, last: bool) -> None:
        super().__init__()
        self.first, self.last = first, last
        if first:
            self.token = nn.Embedding(size.vocabulary, size.width)
            self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(layers))
        if last:
            self.norm = nn.LayerNorm(size.width)
            self.head = nn.Linear(size.width, size.vocabulary)

    def forward(self, given: Tensor, tokens: Tensor) -> Tensor:
        """The stream for the next stage; of the last stage the mean loss. The first takes its input from `tokens`."""
        stream = given
        if self.first:
            stream = self.token(tokens[:, :-1]) + self.position(torch.arange(tokens.shape[1] - 1))
        for block in self.blocks:
            stream = block(stream)
        if not self.last:
            return stream
        return functional.cross_entropy(self.head(self.norm(stream)).flatten(0, 1), tokens[:, 1:].flatten())


class PipelineParallel:
    """One stage of a pipeline, and the data-parallel group of the ranks with the same stage."""

    def __init__(self, plan: dict[str, Any], clock: Clock) -> None:
        parallel = plan["job"]["parallel"]
        self._clock = clock
        self.groups = lay_groups("pipeline", parallel)
        self._line: Group = self.groups["pipeline"]
        at, last = self._line.index, self._line.size - 1
        self.layers = stage_layers(self._line.size, parallel["last_stage_layers"])[at]
        self.model = Stage(PIPELINE_DIMENSIONS, self.layers, first=at == 0, last=at == last)
        self.context, self.replica, self.sharers = PIPELINE_DIMENSIONS.context, self.groups[DATA].index, last + 1
        self._microbatches = parallel["microbatches"]
        self._sent: list[Any] = []

    def train(self, tokens: Tensor) -> float:
        parts = tokens.chunk(self._microbatches)
        given, made = [], []
        for part in parts:
            given.append(self._receive(part, -1))
            with self._clock.phase("forward"):
                made.append(self.model(given[-1], part))
            self._send(made[-1].detach(), +1)
        for part, taken, result in zip(parts, given, made, strict=True):
            gradient = self._receive(part, +1)
            with self._clock.phase("backward"):
                (result / len(parts)).backward() if self.model.last else result.backward(gradient)
            self._send(taken.grad, -1)
        self._clock.wait_for("sends", self._line, 0, self._finish_sends)
        average_gradients(list(self.model.parameters()), self.groups[DATA], self._clock)
        return float(torch.stack([one.detach() for one in made]).mean()) if self.model.last else 0.0

    def _receive(self, part: Tensor, step: int) -> Tensor:
        """The stream of a microbatch from the stage before, or its gradient from the one behind; empty at the ends."""
        if not self._has(step):
            return torch.empty(0)
        taken = torch.empty(part.shape[0], self.context, PIPELINE_DIMENSIONS.width)
        source = self._line.neighbour(step)
        self._clock.wait_for("receive", self._line, taken.nbytes, lambda: dist.recv(taken, source))
        return taken.requires_grad_()

    def _send(self, tensor: Tensor | None, step: int) -> None:
        if tensor is not None and self._has(step):
            tensor = tensor.contiguous()
            self._sent.append((dist.isend(tensor, self._line.neighbour(step)), tensor))

    def _finish_sends(self) -> None:
        for work, _ in self._sent:
            work.wait()
        self._sent.clear()

    def _has(self, step: int) -> bool:
        return 0 <= self._line.index + step < self._line.size

    def counted(self) -> dict[str, Any]:
        return {"stage": self._line.index, "layers": self.layers, "microbatches": self._microbatches}


def make(plan: dict[str, Any], rank: int, clock: Clock) -> PipelineParallel:
    return PipelineParallel(plan, clock)
