"""The training loop with a timer for each phase. Runs in a rank; imports torch.

Phases of a step: input (waiting for documents), forward, backward (until the last bucket is launched), exposed
communication (from then until every gradient is reduced), optimizer.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from gpu_worker.jobs import memory
from gpu_worker.jobs.batches import Batch, Batches
from gpu_worker.jobs.buckets import Buckets, OverlappedBuckets, SerialBuckets
from gpu_worker.jobs.model import ByteModel
from gpu_worker.jobs.reads import BlockingReads
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.collector import Collector
from gpu_worker.ranks.cores import bind
from gpu_worker.ranks.kernel import KernelWatch, resident_bytes
from gpu_worker.ranks.telemetry import Scheduled, scheduled, usage

LEARNING_RATE = 3e-4


@dataclass
class Compute:
    """Forward and backward of the measured steps: wall time, and what the scheduler says of their thread."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    run_delay_s: float = 0.0

    def add(self, wall_s: float, spent: Scheduled) -> None:
        self.wall_s += wall_s
        self.cpu_s += spent.cpu_s
        self.run_delay_s += spent.run_delay_s

    def told(self, wall_s: float, used: Mapping[str, float]) -> dict[str, float]:
        """The telemetry of a rank whose measured part took `wall_s`, with what its process used of the kernel."""
        counted = ("voluntary_switches", "involuntary_switches", "tcp_retransmits", "tcp_segments_out")
        spent = {"compute_wall_s": self.wall_s, "cpu_s": self.cpu_s, "run_delay_s": self.run_delay_s}
        return {"wall_s": wall_s, **spent, **{name: used[name] for name in counted}}


@dataclass
class Phases:
    """What a step has spent so far, in seconds: the phases of each of its microbatches added up."""

    input_s: float = 0.0
    forward_s: float = 0.0
    backward_s: float = 0.0
    cpu_s: float = 0.0  # of forward and backward, as is the time on a run queue
    run_delay_s: float = 0.0


@dataclass
class Trainer:
    """One rank's model, its optimizer, its batches and its timers."""

    plan: dict[str, Any]
    rank: int
    batches: Batches
    buckets: Buckets
    optimizer: torch.optim.Optimizer
    counts: Counter[str]
    collector: Collector
    compute: Compute = field(default_factory=Compute)

    def step(self) -> dict[str, Any]:
        """One training step: the entry of `WholeRun.ranks[].steps`, times on the monotonic clock."""
        start, spent, held, collected_s = time.monotonic(), Phases(), [], self.collector.spent_s
        count = self.plan["job"]["accumulation"]
        for number in range(count):
            held.append(self._microbatch(spent, first=number == 0, last=number == count - 1, share=1 / count))
        reduced, launched = time.monotonic(), self.buckets.launched_at
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        end = time.monotonic()
        batches = [batch for batch, _ in held]
        return {
            "start": start,
            "input_s": spent.input_s,
            "input_bytes": sum(batch.read_bytes for batch in batches),
            "forward_s": spent.forward_s,
            "backward_s": spent.backward_s,
            "exposed_s": reduced - launched,
            "optimizer_s": end - reduced,
            "total_s": end - start,
            "samples": sum(batch.samples for batch in batches),
            "tokens": sum(batch.tokens.shape[0] * (batch.tokens.shape[1] - 1) for batch in batches),
            "sample_ids": [index for batch in batches for index in batch.ids],
            "loss": sum(float(loss.detach()) for _, loss in held),
            "collectives": self.buckets.take_records(),
            "compute_cpu_s": spent.cpu_s,
            "compute_run_delay_s": spent.run_delay_s,
            "collection_s": self.collector.spent_s - collected_s,
            "resident_bytes": resident_bytes(),
        }

    def _microbatch(self, spent: Phases, *, first: bool, last: bool, share: float) -> tuple[Batch, Tensor]:
        """Input, forward and backward of one microbatch, whose gradients count for `share` of the step's."""
        begun = time.monotonic()
        batch = self.batches.next()
        fed, before = time.monotonic(), scheduled()
        if first:
            self.collector.step()
        loss = self.buckets.forward(batch.tokens, last=last)
        if share != 1:
            loss = loss * share
        forwarded = time.monotonic()
        self.buckets.backward(loss, last=last)
        ended, after = (
            (self.buckets.launched_at, self.buckets.scheduled_at_launch) if last else (time.monotonic(), scheduled())
        )
        spent.input_s += fed - begun
        spent.forward_s += forwarded - fed
        spent.backward_s += ended - forwarded
        spent.cpu_s += (after - before).cpu_s
        spent.run_delay_s += (after - before).run_delay_s
        self.compute.add(ended - fed, after - before)
        return batch, loss


def make_trainer(plan: dict[str, Any], rank: int, source: int) -> Trainer:
    job = plan["job"]
    batches = Batches(job, rank, source)  # its workers are forked before this thread is bound, and may run anywhere
    bind(rank, job["binding"])
    model = ByteModel(job=job)
    buckets: Buckets = OverlappedBuckets(model, job) if job["overlap"] else SerialBuckets(model, job)
    if job["blocking_reads"]:
        model.after_block = BlockingReads(buckets, job["blocking_reads"], len(model.blocks))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, foreach=job["script"] == "a")
    collector = Collector(job["live_objects"], job["collect_every"], job["collect_first"])
    return Trainer(plan, rank, batches, buckets, optimizer, model.counts, collector)


def run_job(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Warm-up steps, then measured ones: {"steps": […], "telemetry": {…}, "usage": {…}, "computed": {…}} of this rank.

    `computed` counts what the unusual paths of the model and of its input did in the measured part; empty otherwise.
    Afterwards one more step tells where memory goes.
    """
    assert source is not None
    started_bytes = resident_bytes()
    trainer = make_trainer(plan, rank, source)
    look_back = partial(memory.told, trainer.buckets.model, trainer.optimizer, trainer.step, started_bytes)
    return {**measure(trainer, plan, rank, channel), "afterwards": look_back}


def measure(trainer: Trainer, plan: dict[str, Any], rank: int, channel: Channel) -> dict[str, Any]:
    """Warm-up steps, then measured ones, of a trainer that was made for this rank."""
    for _ in range(plan["job"]["warmup_steps"]):
        trainer.step()
    measure_when_all_are_warm(channel)
    dist.barrier()
    trainer.counts.clear()
    trainer.batches.merges, trainer.batches.loader_cpu_s = 0, 0.0
    watch = KernelWatch()
    trainer.compute, before, begun, steps = Compute(), usage(), time.monotonic(), []
    for number in range(plan["job"]["measured_steps"]):
        steps.append(trainer.step())
        if rank == 0:
            channel.send({"event": "progress", "done": number + 1, "total": plan["job"]["measured_steps"]})
    wall_s, used = time.monotonic() - begun, usage().since(before)
    used["process_cpu_s"] += trainer.batches.loader_cpu_s  # the loader's workers are this rank's own work
    telemetry = {
        **trainer.compute.told(wall_s, used),
        "kernel": {**watch.since_begun(), "compute_threads": torch.get_num_threads(), **trainer.collector.counted()},
    }
    if trainer.batches.merges:
        trainer.counts["pairs_merged"] = trainer.batches.merges
    return {"steps": steps, "telemetry": telemetry, "usage": used, "computed": dict(trainer.counts)}
