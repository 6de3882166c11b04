"""The training loop of every form but plain DDP: the same steps, phases and records. Runs in a rank; imports torch.

Phases of a step: input, forward, backward, exposed communication (whatever the thread waited for in collectives, in
either pass and behind them), optimizer.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

from gpu_worker.jobs import memory
from gpu_worker.jobs.loop import LEARNING_RATE, Compute
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.shape import RECORD_BYTES
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.collector import Collector
from gpu_worker.ranks.cores import bind
from gpu_worker.ranks.kernel import resident_bytes
from gpu_worker.ranks.source import RECORDS, Reader
from gpu_worker.ranks.telemetry import usage


class Form(Protocol):
    """One rank's part of a job. `context` is tokens a sample; ranks of one `replica` train on the same samples,
    `sharers` of them."""

    model: nn.Module
    groups: dict[str, Group]
    context: int
    replica: int
    sharers: int

    def train(self, tokens: Tensor) -> float:
        """Forward and backward over (samples, context + 1) bytes, gradients reduced. Returns the loss, where known."""
        ...

    def counted(self) -> dict[str, Any]:
        """What this form counts in a step beside the times: further keys of the step's record."""
        ...


class Trainer:
    """One rank's form, its optimizer, its batches and its timers."""

    def __init__(self, plan: dict[str, Any], rank: int, source: int) -> None:
        job = plan["job"]
        self.clock = Clock()
        module = import_module(f"gpu_worker.jobs.parallel.{job['parallel']['form']}")
        self.form: Form = module.make(plan, rank, self.clock)
        self.optimizer = torch.optim.AdamW(self.form.model.parameters(), lr=LEARNING_RATE, foreach=job["script"] == "a")
        self.samples = job["microbatch"]
        self.compute = Compute()
        self._collector = Collector()
        self._reader = Reader(source)
        self._order = torch.Generator().manual_seed(job["shuffle_seed"] * 1000 + self.form.replica)

    def step(self) -> dict[str, Any]:
        """One training step: an entry of `WholeRun.ranks[].steps`, times on the monotonic clock."""
        clock = self.clock
        clock.begin_step()
        start, collected_s = time.monotonic(), self._collector.spent_s
        tokens = self._batch()
        fed = time.monotonic()
        loss = self.form.train(tokens)
        trained = time.monotonic()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        end = time.monotonic()
        self.compute.add(sum(clock.phase_s.values()), clock.spent)
        return {
            "start": start,
            "input_s": fed - start,
            "input_bytes": tokens.shape[0] * RECORD_BYTES,
            **{f"{name}_s": seconds for name, seconds in clock.phase_s.items()},
            "exposed_s": clock.exposed_s,
            "optimizer_s": end - trained,
            "total_s": end - start,
            "samples": self.samples,
            "loss": loss,
            "collectives": clock.collectives,
            "spans": [[name, begun, ended] for name, begun, ended in clock.spans],
            "compute_cpu_s": clock.spent.cpu_s,
            "compute_run_delay_s": clock.spent.run_delay_s,
            "collection_s": self._collector.spent_s - collected_s,
            "resident_bytes": resident_bytes(),
            **self.form.counted(),
        }

    def _batch(self) -> Tensor:
        """(samples, context + 1) bytes: the samples of every rank that shares them."""
        count, window = self.samples * self.form.sharers, self.form.context + 1
        indices = torch.randint(RECORDS, (count,), generator=self._order).tolist()
        documents = torch.frombuffer(self._reader.read(indices), dtype=torch.uint8).view(count, RECORD_BYTES)
        first = int(torch.randint(RECORD_BYTES - window, (1,), generator=self._order))
        return documents[:, first : first + window].long()


def run_parallel_job(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Warm-up steps, then measured ones: {steps, telemetry, usage, groups} of this rank. Afterwards one more step tells
    where memory goes."""
    assert source is not None
    started_bytes = resident_bytes()
    bind(rank, plan["job"]["binding"])
    trainer = Trainer(plan, rank, source)
    for _ in range(plan["job"]["warmup_steps"]):
        trainer.step()
    measure_when_all_are_warm(channel)
    dist.barrier()
    trainer.compute, before, begun, steps = Compute(), usage(), time.monotonic(), []
    for number in range(plan["job"]["measured_steps"]):
        steps.append(trainer.step())
        if rank == 0:
            channel.send({"event": "progress", "done": number + 1, "total": plan["job"]["measured_steps"]})
    wall_s, used = time.monotonic() - begun, usage().since(before)
    telemetry = trainer.compute.told(wall_s, used)
    groups = {name: list(group.members) for name, group in trainer.form.groups.items()}
    look_back = partial(memory.told, trainer.form.model, trainer.optimizer, trainer.step, started_bytes)
    return {"steps": steps, "telemetry": telemetry, "usage": used, "groups": groups, "afterwards": look_back}


def one_pass(model: nn.Module, tokens: Tensor, clock: Clock) -> float:
    """Forward and backward of a model whose forward returns the mean loss; that loss."""
    with clock.phase("forward"):
        loss = model(tokens)
    with clock.phase("backward"):
        loss.backward()
    return float(loss.detach())


def average_gradients(parameters: list[nn.Parameter], group: Group, clock: Clock) -> None:
    """Every gradient becomes its mean over the group, in one all-reduce behind the backward pass."""
    if group.size == 1:
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    mean = clock.all_reduce(_flatten_dense_tensors(gradients).div_(group.size), group)
    for gradient, part in zip(gradients, _unflatten_dense_tensors(mean, gradients), strict=True):
        gradient.copy_(part)
