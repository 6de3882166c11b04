"""The training loop with a timer for each phase. Runs in a rank; imports torch.

Phases of a step: input (waiting for documents), forward, backward (until the last bucket is launched), exposed
communication (from then until every gradient is reduced), optimizer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from gpu_worker.jobs.buckets import Buckets, OverlappedBuckets, SerialBuckets
from gpu_worker.jobs.model import ByteModel
from gpu_worker.jobs.shape import DIMENSIONS, RECORD_BYTES
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.collector import Collector
from gpu_worker.ranks.cores import bind
from gpu_worker.ranks.kernel import KernelWatch, resident_bytes
from gpu_worker.ranks.source import RECORDS, Reader
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


@dataclass
class Trainer:
    """One rank's model, its optimizer, its batches and its timers."""

    plan: dict[str, Any]
    rank: int
    reader: Reader
    buckets: Buckets
    optimizer: torch.optim.Optimizer
    order: torch.Generator
    collector: Collector
    compute: Compute = field(default_factory=Compute)

    def step(self) -> dict[str, Any]:
        """One training step: the entry of `WholeRun.ranks[].steps`, times on the monotonic clock."""
        start = time.monotonic()
        tokens = self._batch()
        fed, before, collected_s = time.monotonic(), scheduled(), self.collector.spent_s
        self.collector.step()
        loss = self.buckets.forward(tokens)
        forwarded = time.monotonic()
        self.buckets.backward(loss)
        reduced, launched = time.monotonic(), self.buckets.launched_at
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        end = time.monotonic()
        spent = self.buckets.scheduled_at_launch - before
        self.compute.add(launched - fed, spent)
        samples = tokens.shape[0]
        return {
            "start": start,
            "input_s": fed - start,
            "input_bytes": samples * RECORD_BYTES,
            "forward_s": forwarded - fed,
            "backward_s": launched - forwarded,
            "exposed_s": reduced - launched,
            "optimizer_s": end - reduced,
            "total_s": end - start,
            "samples": samples,
            "loss": float(loss.detach()),
            "collectives": self.buckets.take_records(),
            "compute_cpu_s": spent.cpu_s,
            "compute_run_delay_s": spent.run_delay_s,
            "collection_s": self.collector.spent_s - collected_s,
            "resident_bytes": resident_bytes(),
        }

    def _batch(self) -> Tensor:
        """(microbatch, context + 1) bytes: a window of each of the next documents in this rank's shuffled order."""
        count, window = self.plan["job"]["microbatch"], DIMENSIONS.context + 1
        indices = torch.randint(RECORDS, (count,), generator=self.order).tolist()
        documents = torch.frombuffer(self.reader.read(indices), dtype=torch.uint8).view(count, RECORD_BYTES)
        first = int(torch.randint(RECORD_BYTES - window, (1,), generator=self.order))
        return documents[:, first : first + window].long()


def make_trainer(plan: dict[str, Any], rank: int, source: int) -> Trainer:
    job = plan["job"]
    model = ByteModel()
    buckets: Buckets = OverlappedBuckets(model, job) if job["overlap"] else SerialBuckets(model, job)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, foreach=job["script"] == "a")
    order = torch.Generator().manual_seed(job["shuffle_seed"] * 1000 + rank)
    collector = Collector(job["live_objects"], job["collect_every"], job["collect_first"])
    return Trainer(plan, rank, Reader(source), buckets, optimizer, order, collector)


def run_job(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """Warm-up steps, then measured ones: {"steps": […], "telemetry": {…}, "usage": {…}} of this rank."""
    assert source is not None
    bind(rank, plan["job"]["binding"])
    trainer = make_trainer(plan, rank, source)
    for _ in range(plan["job"]["warmup_steps"]):
        trainer.step()
    measure_when_all_are_warm(channel)
    dist.barrier()
    watch = KernelWatch()
    trainer.compute, before, begun, steps = Compute(), usage(), time.monotonic(), []
    for number in range(plan["job"]["measured_steps"]):
        steps.append(trainer.step())
        if rank == 0:
            channel.send({"event": "progress", "done": number + 1, "total": plan["job"]["measured_steps"]})
    wall_s, used = time.monotonic() - begun, usage().since(before)
    telemetry = {
        "wall_s": wall_s,
        "compute_wall_s": trainer.compute.wall_s,
        "cpu_s": trainer.compute.cpu_s,
        "run_delay_s": trainer.compute.run_delay_s,
        **{name: used[name] for name in ("voluntary_switches", "involuntary_switches", "tcp_retransmits")},
        "tcp_segments_out": used["tcp_segments_out"],
        "kernel": {**watch.since_begun(), "compute_threads": torch.get_num_threads(), **trainer.collector.counted()},
    }
    return {"steps": steps, "telemetry": telemetry, "usage": used}
