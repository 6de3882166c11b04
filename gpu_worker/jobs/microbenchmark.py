"""The microbenchmark: the same all-reduce again and again, with nothing else to do. Runs in a rank; imports torch."""

from __future__ import annotations

import time
from typing import Any

from gpu_worker.jobs.shape import FLOAT32_BYTES
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.telemetry import usage


def run_microbenchmark(plan: dict[str, Any], rank: int, channel: Channel, source: None) -> dict[str, Any]:
    """One discarded iteration, then `repeats` kept ones: {"seconds": [s, …], "usage": {…}} of this rank."""
    import torch
    import torch.distributed as dist

    message = torch.zeros(plan["size_bytes"] // FLOAT32_BYTES)
    dist.all_reduce(message)
    measure_when_all_are_warm(channel)
    before, seconds = usage(), []
    for number in range(plan["repeats"]):
        message.fill_(1.0)
        dist.barrier()
        begun = time.monotonic()
        dist.all_reduce(message)
        seconds.append(time.monotonic() - begun)
        if rank == 0:
            channel.send({"event": "progress", "done": number + 1, "total": plan["repeats"]})
    assert float(message[0]) == len(plan["ranks"]), "the all-reduce returned a wrong sum"
    return {"seconds": seconds, "usage": usage().since(before)}
