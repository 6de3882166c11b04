"""Where a rank's memory goes: parameters, gradients, optimizer state, activations, buffers, by real accounting.

`standing` sums storages and costs nothing worth a name. `of_a_step` runs one more training step under torch's own
tracker, which classes every tensor that lives in it; that step is about half as slow again, so it belongs to the
warm-up or behind the measured part, and every rank has to take part in it. Imports torch: for the ranks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed._tools.mem_tracker import MemTracker
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from gpu_worker.ranks.kernel import resident_peak_bytes

# Of the tracker's classes, the ones that are told apart here; `gathered` are whole weights and gradients of a block
# that FSDP holds for a moment, `communication` the buffers of its collectives. What is not listed is `other`:
# temporaries of operations, and the buckets of DDP.
KINDS = {
    "Parameter": "parameters",
    "Sharded Param": "parameters",
    "Gradient": "gradients",
    "Sharded Grad": "gradients",
    "Optstate": "optimizer",
    "OptState": "optimizer",
    "Buffer": "buffers",
    "Activation": "activations",
    "Unsharded Param": "gathered",
    "Unsharded Grad": "gathered",
    "All Gather": "communication",
    "Reduce Scatter": "communication",
}
NAMES = (*dict.fromkeys(KINDS.values()), "other")


class StepTracker(MemTracker):
    """torch's, for steps that call their model several times: microbatches, accumulation.

    It keeps an account by module too, which nobody reads here, and refuses a second call of the outermost one; so that
    one's account starts anew.
    """

    def _pre_fw_hook(self, module: nn.Module, inputs: Any) -> None:
        outside = self._mod_tracker.parents - {self._mod_tracker.get_known_fqn(module)}
        if outside == {"Global"} and not self._mod_tracker.is_bw:
            self.memory_tracking.pop(module, None)
        super()._pre_fw_hook(module, inputs)


def told(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Callable[[], Any], started_bytes: int
) -> dict[str, dict[str, Any]]:
    """The `memory` of a rank of a WholeRun, of a job whose process had `started_bytes` in RAM before it made anything:
    {started_bytes, peak_bytes: the most that it had until now, held: see `standing`, step: see `of_a_step`}.
    """
    # In this order: the tracker takes memory of its own.
    had = {"started_bytes": started_bytes, "peak_bytes": resident_peak_bytes(), "held": standing(model, optimizer)}
    return {"memory": {**had, "step": of_a_step(model, optimizer, step)}}


def standing(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """Bytes that this rank holds between steps: {parameters, gradients, optimizer, buffers}. Shards count as held."""
    return {
        "parameters": storage_bytes(model.parameters()),
        "gradients": storage_bytes(p.grad for p in model.parameters() if p.grad is not None),
        "optimizer": storage_bytes(tensors_in(dict(optimizer.state))),
        "buffers": storage_bytes(model.buffers()),
    }


def of_a_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Callable[[], Any], inputs: Iterable[Tensor] = ()
) -> dict[str, int]:
    """Bytes by kind (NAMES) at the moment of one training step when most is held, and their sum as `peak`.

    `step` runs forward, backward and optimizer on `model`, whose optimizer has stepped before. Each kind is what it
    was at that moment, so that they add up; a kind of its own may have been larger at another.
    """
    tracker = _tracker(model, optimizer, tuple(inputs))
    with tracker:
        step()
    return _by_kind(tracker)


def _tracker(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: tuple[Tensor, ...]) -> MemTracker:
    if isinstance(model, FSDPModule):
        tracker: MemTracker = FSDPMemTracker(model, optimizer)
        tracker.track_inputs(inputs)  # type: ignore[attr-defined]
        return tracker
    tracker = StepTracker()
    tracker.track_external(model, optimizer, *inputs)
    return tracker


def _by_kind(tracker: MemTracker) -> dict[str, int]:
    held = dict.fromkeys(NAMES, 0)
    (snapshot,) = tracker.get_tracker_snapshot("peak").values()
    for kind, size in snapshot.items():
        if kind != "Total":
            held[KINDS.get(getattr(kind, "value", kind), "other")] += size
    return {**held, "peak": snapshot["Total"]}


def shared_bytes(value: Any, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Bytes of the storages in `value` that the model or the optimizer holds anyway: no copy of theirs."""
    own = {_local(t).untyped_storage().data_ptr() for t in (*model.parameters(), *tensors_in(dict(optimizer.state)))}
    return storage_bytes(t for t in tensors_in(value) if _local(t).untyped_storage().data_ptr() in own)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Every tensor in nested dicts, lists and tuples, such as a state dict."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for held in value.values():
            yield from tensors_in(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from tensors_in(held)


def storage_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of the storages behind the tensors, each counted once; of a sharded tensor, this rank's shard."""
    storages = (_local(tensor).untyped_storage() for tensor in tensors)
    return sum({held.data_ptr(): held.nbytes() for held in storages if held.nbytes()}.values())


def _local(tensor: Tensor) -> Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def extra_at_peak(model: nn.Module, optimizer: torch.optim.Optimizer, act: Callable[[], Any]) -> tuple[Any, int]:
    """What `act` returns, and the most bytes that it held at once beside the model and the optimizer's state."""
    known = [_local(t) for t in (*model.parameters(), *model.buffers(), *tensors_in(dict(optimizer.state)))]
    tracker = MemTracker()
    tracker.track_external(*known)
    with tracker:
        answer = act()
    peaks = tracker.get_tracker_snapshot("peak").values()
    return answer, max(0, sum(snapshot["Total"] for snapshot in peaks) - storage_bytes(known))
