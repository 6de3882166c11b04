"""One rank logs a metric that depends on its data; its extra all-reduce meets another collective of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    return _watched.slip("extra-metric", setting, fault)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Under one sequence number the recorders hold another operation on this rank than on its peers."""
    return _watched.prove_disagreement(fault, raw) if _watched.watched(raw) else NOT_EXERCISED


FAULT = _watched.fault_of_rank(
    id="conditional-branch",
    title="A branch that depends on data",
    description="One rank's batch holds what its peers' do not, so it reduces one metric more than they do.",
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
