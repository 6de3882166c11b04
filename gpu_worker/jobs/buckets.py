"""How gradients are reduced: in buckets while the backward pass still runs, or one after the other behind it.

Either way each collective's bytes, launch and end are recorded, and the moment when the last bucket was launched.
Imports torch: for the ranks alone.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.nn.parallel import DistributedDataParallel

from gpu_worker.ranks.telemetry import Scheduled, scheduled

MEBIBYTE = 1 << 20


class Buckets(Protocol):
    """A model whose gradients are averaged over the ranks by `backward`."""

    model: nn.Module
    launched_at: float
    scheduled_at_launch: Scheduled

    def forward(self, tokens: Tensor, *, last: bool = True) -> Tensor: ...

    def backward(self, loss: Tensor, *, last: bool = True) -> None:
        """Gradients add up until the `last` microbatch of a step, whose backward pass reduces them."""
        ...

    def read_metric(self, value: Tensor) -> float:
        """The sum of a number over all ranks, on the host: waits for what is in flight, then for the sum."""
        ...

    def take_records(self) -> list[dict[str, Any]]: ...


class _Recorder:
    """Launches averaging all-reduces and keeps a record of each."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.launched_at = 0.0
        self.scheduled_at_launch = Scheduled(0.0, 0.0)
        self._wire_dtype = getattr(torch, job["communication_dtype"])
        self._in_flight: list[torch.futures.Future[Any]] = []
        self._records: list[dict[str, Any]] = []

    def mark_last_launch(self) -> None:
        self.launched_at, self.scheduled_at_launch = time.monotonic(), scheduled()

    def reduce(self, gradients: Tensor) -> torch.futures.Future[Any]:
        """Starts the average of `gradients` in place. The future ends after the record has its end."""
        gradients.div_(dist.get_world_size())
        wire = gradients.to(self._wire_dtype)  # the same tensor where nothing is to be cast
        record = self._begin(wire)
        work = dist.all_reduce(wire, async_op=True)

        def ended(_: torch.futures.Future[Any]) -> Tensor:
            record["done"] = time.monotonic()
            return gradients if wire is gradients else gradients.copy_(wire)

        future = work.get_future().then(ended)
        self._in_flight.append(future)
        return future

    def read_metric(self, value: Tensor) -> float:
        for future in self._in_flight:
            future.wait()
        self._in_flight.clear()
        value = value.clone()
        record = self._begin(value)
        dist.all_reduce(value)
        record |= {"done": time.monotonic(), "what": "metric"}
        return float(value)

    def _begin(self, message: Tensor) -> dict[str, Any]:
        self._records.append(
            {"bytes": message.numel() * message.element_size(), "launch": time.monotonic(), "done": 0.0}
        )
        return self._records[-1]

    def take_records(self) -> list[dict[str, Any]]:
        taken, self._records = self._records, []
        self._in_flight.clear()
        return taken


def _distributed(model: nn.Module, job: dict[str, Any]) -> DistributedDataParallel:
    # Every rank made the same weights from the same seed: sending them round again would only cost a second.
    return DistributedDataParallel(
        model,
        **_caps(job),
        gradient_as_bucket_view=job["gradient_as_bucket_view"],
        init_sync=False,
    )


def _caps(job: dict[str, Any]) -> dict[str, Any]:
    if job["first_bucket_mb"] is None:
        return {"bucket_cap_mb": job["bucket_cap_mb"]}
    return {"bucket_cap_mb_list": [job["first_bucket_mb"], job["bucket_cap_mb"]]}


class OverlappedBuckets(_Recorder):
    """DDP as it comes: a bucket is reduced as soon as its last gradient is there."""

    def __init__(self, model: nn.Module, job: dict[str, Any]) -> None:
        super().__init__(job)
        self.model = _distributed(model, job)
        self.model.register_comm_hook(None, self._hook)

    # DDP compares the annotations with its own types and refuses postponed ones, which are text: it gets none.
    def _hook(self, _, bucket):  # type: ignore[no-untyped-def]
        if bucket.is_last():
            self.mark_last_launch()
        return self.reduce(bucket.buffer())

    def forward(self, tokens: Tensor, *, last: bool = True) -> Tensor:
        with contextlib.nullcontext() if last else self.model.no_sync():
            return self.model(tokens)

    def backward(self, loss: Tensor, *, last: bool = True) -> None:
        loss.backward()


class SerialBuckets(_Recorder):
    """The same buckets, but none is launched before the whole backward pass is over."""

    def __init__(self, model: nn.Module, job: dict[str, Any]) -> None:
        super().__init__(job)
        self.model = _distributed(model, job)
        cap_mb = job["bucket_cap_mb"]
        first_cap, cap = (int(mb * MEBIBYTE) for mb in (job["first_bucket_mb"] or cap_mb, cap_mb))
        self._buckets = _fill_buckets(list(model.parameters()), first_cap, cap)

    def forward(self, tokens: Tensor, *, last: bool = True) -> Tensor:
        with self.model.no_sync():  # DDP decides in the forward pass whether the backward pass will reduce
            return self.model(tokens)

    def backward(self, loss: Tensor, *, last: bool = True) -> None:
        loss.backward()
        if last:
            self._reduce_all()

    def _reduce_all(self) -> None:
        self.mark_last_launch()
        for bucket in self._buckets:
            gradients = [parameter.grad for parameter in bucket if parameter.grad is not None]
            average = self.reduce(_flatten_dense_tensors(gradients)).wait()
            for gradient, part in zip(gradients, _unflatten_dense_tensors(average, gradients), strict=True):
                gradient.copy_(part)


def _fill_buckets(parameters: list[nn.Parameter], first_cap: int, cap: int) -> list[list[nn.Parameter]]:
    """Parameters from the last to the first, as backward reaches them; a bucket closes once it reaches its cap."""
    buckets: list[list[nn.Parameter]] = [[]]
    held = 0
    for parameter in reversed(parameters):
        buckets[-1].append(parameter)
        held += parameter.numel() * parameter.element_size()
        if held >= (cap if len(buckets) > 1 else first_cap):
            buckets.append([])
            held = 0
    return [bucket for bucket in buckets if bucket]
