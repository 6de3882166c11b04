"""One rank reduces its gradients in another precision: the same elements, half the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    return _watched.slip("dtype", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The library of some rank refused a message for its size, or named the two types."""
    return _watched.prove_mismatch_by_words(fault, raw) if _watched.watched(raw) else NOT_EXERCISED


FAULT = _watched.fault_of_rank(
    id="dtype-mismatch",
    title="Element types that differ",
    description="One rank hands its gradients over in bfloat16, its peers in float32.",
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
