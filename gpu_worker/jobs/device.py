"""What a core gives this model's products alone, and how many operations a step is made of. Imports torch.

Held against the job's own compute they tell slow kernels and gaps between kernels from a job that computes as fast as
the device can, without a number that depends on the machine.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from gpu_worker.jobs.loop import make_trainer, measure
from gpu_worker.jobs.shape import DIMENSIONS
from gpu_worker.launcher.channel import Channel

PRODUCTS_S = 0.25
SMALL_OPERATIONS = 20_000


class CountOperations(TorchDispatchMode):
    """Counts what torch dispatches, forward and backward, while it is on."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return function(*args, **(kwargs or {}))


def run_on_made_up_batches(plan: dict[str, Any], rank: int, channel: Channel, source: int | None) -> dict[str, Any]:
    """The job's result on batches that nobody reads, with `device`: {flops_per_cpu_s, launch_cpu_s, operations}."""
    assert source is not None
    trainer = make_trainer(plan, rank, source)
    device = {"flops_per_cpu_s": _flops_per_cpu_s(plan["job"]["microbatch"]), "launch_cpu_s": _launch_cpu_s()}
    with CountOperations() as operations:
        trainer.step()
    result = measure(trainer, plan, rank, channel)
    return {**result, "device": {**device, "operations": operations.count}}


def _flops_per_cpu_s(rows: int) -> float:
    """Rate of the model's four products, one after the other, in processor time: peers on the core do not count."""
    width, inner, tokens = DIMENSIONS.width, DIMENSIONS.inner, rows * DIMENSIONS.context
    shapes = ((width, 3 * width), (width, width), (width, inner), (inner, width))
    pairs = [(torch.randn(tokens, taken), torch.randn(given, taken)) for taken, given in shapes]
    flops = sum(2 * tokens * taken * given for taken, given in shapes)
    _all_products(pairs)
    rounds, begun = 0, time.thread_time()
    while time.thread_time() - begun < PRODUCTS_S:
        _all_products(pairs)
        rounds += 1
    return rounds * flops / (time.thread_time() - begun)


def _all_products(pairs: list[tuple[Tensor, Tensor]]) -> None:
    for stream, weight in pairs:
        functional.linear(stream, weight)


def _launch_cpu_s() -> float:
    """Processor time of an operation that has next to nothing to do."""
    number = torch.zeros(1)
    begun = time.thread_time()
    for _ in range(SMALL_OPERATIONS):
        number.add_(1)
    return (time.thread_time() - begun) / SMALL_OPERATIONS
