"""A short training script as people write it by hand: its own reduction of gradients, a schedule, metrics, checkpoints.

Its collectives may disagree between ranks (`Job.slip`), so it may hang. Runs in a rank; imports torch. What it prints
is its log. One step: a broadcast of the learning rate from rank 0, forward and backward, one all-reduce for each of two
buckets of gradients, one all-reduce for each metric. Every `save_every` steps rank 0 writes a checkpoint and all wait.
"""

from __future__ import annotations

import io
import os
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import Tensor, nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

from gpu_worker.jobs.model import ByteModel
from gpu_worker.jobs.shape import RECORD_BYTES, Dimensions
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.cores import bind
from gpu_worker.ranks.source import RECORDS, Reader
from gpu_worker.ranks.storage import Storage

SMALL = Dimensions(width=64, inner=256, layers=2, heads=4, context=32)
SAMPLES = 2
LEARNING_RATE = 1e-3
WARMUP_STEPS = 2
LOG_EVERY = 4
HANDED_OVER = 500_000  # numbers a rank hands to rank 0 at the end: two megabytes, more than its socket takes at once
EVALUATED = 16  # passes
BARRIER_S = 1.0


@dataclass
class Script:
    """One rank's run of the training script."""

    rank: int
    job: dict[str, Any]
    steps: int
    save_every: int
    model: ByteModel
    optimizer: torch.optim.Optimizer
    reader: Reader
    storage: Storage
    order: torch.Generator
    channel: Channel

    def train(self) -> None:
        """All steps, and what follows the last of them."""
        for step in range(1, self.steps + 1):
            if self._slips("left-early", step):
                self.log(f"no batches left after step {step - 1}")
                break
            loss = self.train_step(step)
            self.channel.send({"event": "step", "done": step, "total": self.steps})
            if step % LOG_EVERY == 0:
                self.log(f"step {step} loss {loss:.3f}")
            if step == self.steps:
                self.hand_over()
            if step % self.save_every == 0:
                self.save(step)
        self.log("training finished")

    def train_step(self, step: int) -> float:
        if self.job["monitored_barrier"]:
            dist.monitored_barrier(timeout=timedelta(seconds=BARRIER_S), wait_all_ranks=True)
        if self._slips("order", step):
            loss = self.backward(step)
            self.average_gradients(step)
            self.share_schedule(step)
        else:
            self.share_schedule(step)
            loss = self.backward(step)
            self.average_gradients(step)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return self.log_metrics(step, loss)

    def share_schedule(self, step: int) -> None:
        """Rank 0 decides the learning rate."""
        rate = torch.tensor([LEARNING_RATE * min(1.0, step / 4)])
        dist.broadcast(rate, 0)
        for group in self.optimizer.param_groups:
            group["lr"] = float(rate)

    def backward(self, step: int) -> float:
        if self._slips("shape", step) and not self.job["slip_size"]:
            self.model.position.weight.requires_grad_(False)
        loss = self.model(self._batch())
        loss.backward()
        return float(loss.detach())

    def average_gradients(self, step: int) -> None:
        """The mean of each bucket's gradients over all ranks, in place."""
        for bucket in self._buckets():
            gradients = [parameter.grad for parameter in bucket if parameter.grad is not None]
            flat = _flatten_dense_tensors(gradients)
            if self._slips("shape", step) and self.job["slip_size"]:
                flat = functional.pad(flat, (0, -len(flat) % self.job["slip_size"]))
            if self._slips("dtype", step):
                flat = flat.to(torch.bfloat16)
            dist.all_reduce(flat)
            flat = flat / dist.get_world_size()
            for gradient, part in zip(gradients, _unflatten_dense_tensors(flat, gradients), strict=True):
                gradient.copy_(part)

    def log_metrics(self, step: int, loss: float) -> float:
        """The mean of each metric over all ranks; the loss is returned."""
        metrics = {"loss": loss}
        if self._slips("extra-metric", step):
            metrics["rare_tokens"] = 1.0
        means = {name: self._mean(value) for name, value in metrics.items()}
        return means["loss"]

    def _mean(self, value: float) -> float:
        held = torch.tensor([value])
        dist.all_reduce(held)
        return float(held) / dist.get_world_size()

    def save(self, step: int) -> None:
        """Called on every rank: rank 0 writes, and all wait for it."""
        if step == self.steps and self._slips("save-alone", step):
            self.write_checkpoint(f"best-{step}")
            dist.barrier()
        if self.rank == 0:
            self.write_checkpoint(f"step-{step}")
        dist.barrier()

    def write_checkpoint(self, name: str) -> None:
        held = io.BytesIO()
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, held)
        self.log(f"writing checkpoint {name}, {held.tell() / 1e6:.1f} MB")
        begun = time.monotonic()
        self.storage.write(held.getvalue())
        seconds = time.monotonic() - begun
        self.channel.send({"event": "saved", "bytes": held.tell(), "seconds": seconds})
        self.log(f"checkpoint {name} written in {seconds:.2f} s")

    def hand_over(self) -> None:
        """Rank 0 takes the evaluation of every other rank, one after the other."""
        outputs = torch.full((HANDED_OVER,), float(self.rank))
        if self.rank == 0:
            self.evaluate()
            for source in range(1, dist.get_world_size()):
                dist.recv(outputs, source)
            return
        sending = dist.isend(outputs, 0)
        assert sending is not None
        if self._slips("leave-sending", self.steps):
            self.channel.send({"event": "left", "sent": bool(sending.is_completed())})
            self.log("training finished")
            os._exit(0)
        sending.wait()

    def evaluate(self) -> None:
        """Rank 0's own evaluation, before it takes the others': those who leave early have gone by then."""
        tokens = self._batch()
        with torch.no_grad():
            losses = [float(self.model(tokens)) for _ in range(EVALUATED)]
        self.log(f"evaluation loss {sum(losses) / len(losses):.3f}")

    def log(self, text: str) -> None:
        print(f"[rank{self.rank}] {text}", file=sys.stderr, flush=True)

    def _buckets(self) -> list[list[nn.Parameter]]:
        """Embeddings and head, then the blocks: two buckets of different sizes."""
        inside = {id(parameter) for parameter in self.model.blocks.parameters()}
        parameters = list(self.model.parameters())
        return [
            [parameter for parameter in parameters if id(parameter) not in inside],
            [parameter for parameter in parameters if id(parameter) in inside],
        ]

    def _slips(self, slip: str, step: int) -> bool:
        return bool(self.job["slip"] == slip and step >= self.job["slip_step"])

    def _batch(self) -> Tensor:
        """(SAMPLES, context + 1) bytes of the next documents in this rank's shuffled order."""
        indices = torch.randint(RECORDS, (SAMPLES,), generator=self.order).tolist()
        documents = torch.frombuffer(self.reader.read(indices), dtype=torch.uint8).view(SAMPLES, RECORD_BYTES)
        return documents[:, : SMALL.context + 1].long()


def make_script(plan: dict[str, Any], rank: int, channel: Channel, source: int) -> Script:
    job, arguments = plan["job"], plan["arguments"]
    model = ByteModel(SMALL)
    return Script(
        rank=rank,
        job=job,
        steps=arguments["steps"],
        save_every=arguments["save_every"],
        model=model,
        optimizer=torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE),
        reader=Reader(source),
        storage=Storage(plan["checkpoint_store"]),
        order=torch.Generator().manual_seed(job["shuffle_seed"] * 1000 + rank),
        channel=channel,
    )


def run_watched(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Warms up without the other ranks, then trains: {"steps": number} of this rank, if it gets so far."""
    assert source is not None
    bind(rank, plan["job"]["binding"])
    script = make_script(plan, rank, channel, source)
    for _ in range(WARMUP_STEPS):
        script.backward(0)
        script.optimizer.step()
        script.optimizer.zero_grad()
    measure_when_all_are_warm(channel)
    script.train()
    return {"steps": script.steps}
