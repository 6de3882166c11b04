"""One rank issues two collectives of a step in the other order: from then on nobody gets on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    return _watched.slip("order", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Under one sequence number the recorders hold another operation on this rank than on its peers."""
    return _watched.prove_disagreement(fault, raw) if _watched.watched(raw) else NOT_EXERCISED


FAULT = _watched.fault_of_rank(
    id="order-mismatch",
    title="Collectives in another order",
    description="One rank averages its gradients before the schedule's broadcast, its peers after it.",
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
