"""Checksums of parameters and moments, by the part that a rank of the saving job held. Imports torch."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.tensor import DTensor

from gpu_worker.checkpoints.trainer import Trainer

DIGITS = 12


def checksums(trainer: Trainer, parts: int) -> list[dict[str, Any]]:
    """One for each tensor and part: {kind, name, part, sum (of the bytes), norm}, on rank 0. All ranks call it.

    Tensors are brought together and cut into `parts` along their first dimension, as FSDP2 cuts them, so that sums
    taken at any world size compare.
    """
    own = [(kind, name, _local(value)) for kind, name, value in _tensors(trainer)]
    # In one message: a collective for each tensor would take longer than the steps that are replayed.
    everyone: list[Any] | None = [None] * trainer.ranks if trainer.rank == 0 else None
    dist.gather_object(own, everyone)
    found: list[dict[str, Any]] = []
    for pieces in zip(*(everyone or []), strict=True):
        kind, name, _ = pieces[0]
        whole = torch.cat([piece for _, _, piece in pieces], dim=0)
        for part, piece in enumerate(torch.chunk(whole, parts, dim=0)):
            found.append({"kind": kind, "name": name, "part": part, "sum": _sum(piece), "norm": float(piece.norm())})
    return found


def _local(value: Tensor) -> Tensor:
    return (value.to_local() if isinstance(value, DTensor) else value).detach()


def _tensors(trainer: Trainer) -> list[tuple[str, str, Tensor]]:
    parameters = [("parameter", name, value) for name, value in trainer.model.named_parameters()]
    states = get_optimizer_state_dict(trainer.model, trainer.optimizer)["state"]
    moments = [
        ("moment", f"{name}.{moment}", value)
        for name, state in states.items()
        for moment, value in state.items()
        if moment in ("exp_avg", "exp_avg_sq")
    ]
    return [*parameters, *moments]


def _sum(piece: Tensor) -> str:
    return hashlib.sha256(piece.contiguous().numpy().tobytes()).hexdigest()[:DIGITS]
