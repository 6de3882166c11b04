"""Collectives with nothing beside them: one operation at several sizes, timed alone or in trains. Runs in a rank;
imports torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_worker.jobs.shape import FLOAT32_BYTES
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.body import measure_when_all_are_warm
from gpu_worker.ranks.telemetry import usage

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Operation:
    """One collective on buffers of its own. `run()` does it once; `check()` raises where its result is wrong."""

    run: Callable[[], object]
    check: Callable[[], None]
    given: Tensor
    result: Tensor


def run_collectives(plan: dict[str, Any], rank: int, channel: Channel, source: None) -> dict[str, Any]:
    """Trains of a collective, one a size: {"trains": [{"seconds": [s, …], "given": [shape], "result": [shape]}],
    "usage": {…}} of this rank.

    `plan["arguments"]`: `op`, and `trains`, each {size_bytes, repeats, paced}. Of a paced train every repeat waits for
    all ranks, as a benchmark tool does; otherwise they follow one another at once, so that no link's bucket fills
    meanwhile. The first of a train is discarded.
    """
    op, trains = plan["arguments"]["op"], plan["arguments"]["trains"]
    operations = [operation(op, train["size_bytes"], rank, len(plan["ranks"])) for train in trains]
    operations[0].run()
    measure_when_all_are_warm(channel)
    before, kept = usage(), []
    for number, (train, one) in enumerate(zip(trains, operations, strict=True), 1):
        kept.append({"seconds": _train(one, train["repeats"], train["paced"]), **_shapes(one)})
        one.check()
        if rank == 0:
            channel.send({"event": "progress", "done": number, "total": len(trains)})
    return {"trains": kept, "usage": usage().since(before)}


def _train(one: Operation, repeats: int, paced: bool) -> list[float]:
    import torch.distributed as dist

    seconds = []
    dist.barrier()
    for _ in range(repeats + 1):
        if paced:
            dist.barrier()
        begun = time.monotonic()
        one.run()
        seconds.append(time.monotonic() - begun)
    return seconds[1:]


def _shapes(one: Operation) -> dict[str, list[int]]:
    return {"given": list(one.given.shape), "result": list(one.result.shape)}


def operation(op: str, size_bytes: int, rank: int, ranks: int) -> Operation:
    """`size_bytes` is the whole array's: what all-gather and all-to-all leave in each rank, and what reduce-scatter
    takes from each (nccl-tests PERFORMANCE.md). It must be a multiple of 4 · ranks.
    """
    return OPERATIONS[op](size_bytes // FLOAT32_BYTES, rank, ranks)


def _all_reduce(count: int, rank: int, ranks: int) -> Operation:
    import torch
    import torch.distributed as dist

    message = torch.zeros(count)

    def check() -> None:
        message.fill_(rank)
        dist.all_reduce(message)
        _expect(message, sum(range(ranks)))

    return Operation(lambda: dist.all_reduce(message), check, message, message)


def _all_gather(count: int, rank: int, ranks: int) -> Operation:
    import torch
    import torch.distributed as dist

    part, whole = torch.full((count // ranks,), float(rank)), torch.zeros(count)
    return Operation(
        lambda: dist.all_gather_into_tensor(whole, part), lambda: _expect_one_part_a_rank(whole, ranks), part, whole
    )


def _reduce_scatter(count: int, rank: int, ranks: int) -> Operation:
    import torch
    import torch.distributed as dist

    whole, part = torch.arange(ranks).repeat_interleave(count // ranks).float(), torch.zeros(count // ranks)

    def run() -> None:
        dist.reduce_scatter_tensor(part, whole)

    return Operation(run, lambda: _expect(part, ranks * rank), whole, part)


def _broadcast(count: int, rank: int, ranks: int) -> Operation:
    import torch
    import torch.distributed as dist

    message = torch.full((count,), 1.0 if rank == 0 else 0.0)
    return Operation(lambda: dist.broadcast(message, 0), lambda: _expect(message, 1), message, message)


def _all_to_all(count: int, rank: int, ranks: int) -> Operation:
    import torch
    import torch.distributed as dist

    given, taken = torch.full((count,), float(rank)), torch.zeros(count)
    return Operation(
        lambda: dist.all_to_all_single(taken, given), lambda: _expect_one_part_a_rank(taken, ranks), given, taken
    )


def _expect(tensor: Tensor, value: float) -> None:
    assert float(tensor.min()) == float(tensor.max()) == value, "the collective returned a wrong result"


def _expect_one_part_a_rank(tensor: Tensor, ranks: int) -> None:
    for rank, part in enumerate(tensor.chunk(ranks)):
        _expect(part, rank)


OPERATIONS: dict[str, Callable[[int, int, int], Operation]] = {
    "all-reduce": _all_reduce,
    "all-gather": _all_gather,
    "reduce-scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "all-to-all": _all_to_all,
}
