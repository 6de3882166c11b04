"""Messages from one rank to one other over the library's own connections, round after round. Runs in a rank."""

from __future__ import annotations

import time
from typing import Any

from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.telemetry import usage


def run_pairs(plan: dict[str, Any], rank: int, channel: Channel, source: None) -> dict[str, Any]:
    """{"received": [{round, source, seconds}], "usage": {…}} of this rank.

    `plan["arguments"]`: `rounds`, lists of [source rank, target rank] that go at once, and `bytes`, `ahead_bytes` of
    the timed message and of the one right ahead of it, which empties the links' buckets and opens the window.
    """
    import torch
    import torch.distributed as dist

    arguments = plan["arguments"]
    ahead, timed = (torch.zeros(arguments[name], dtype=torch.uint8) for name in ("ahead_bytes", "bytes"))
    measure_when_all_are_warm(channel)
    before, received = usage(), []
    for number, flows in enumerate(arguments["rounds"]):
        dist.barrier()
        for sender, target in flows:
            if rank == sender:
                for sent in [dist.isend(ahead, target), dist.isend(timed, target)]:
                    sent.wait()
            elif rank == target:
                seconds = _receive(ahead, timed, sender)
                received.append({"round": number, "source": sender, "seconds": seconds})
        if rank == 0:
            channel.send({"event": "progress", "done": number + 1, "total": len(arguments["rounds"])})
    return {"received": received, "usage": usage().since(before)}


def _receive(ahead: Any, timed: Any, sender: int) -> float:
    """From the end of the first message to the end of the second, both awaited before either is sent."""
    import torch.distributed as dist

    first, second = dist.irecv(ahead, sender), dist.irecv(timed, sender)
    first.wait()
    begun = time.monotonic()
    second.wait()
    return time.monotonic() - begun
