"""One rank hands over a bucket of another size: padded to another multiple, or without a layer that it froze."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial, params_of
from gpu_worker.specs import Fault, Setting


class ShapeParams(_watched.StepParams):
    pad_to: int = Field(
        default=1024,
        ge=0,
        le=65_536,
        description="multiple of elements that the rank pads its bucket to; 0: it freezes a layer, and has fewer",
        json_schema_extra={"unit": "elements", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    params = params_of(ShapeParams, fault)
    when = Fault(cause=fault.cause, place=fault.place, params={"step": params.step})
    return _watched.slip("shape", setting, when, slip_size=params.pad_to)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The library of some rank refused a message for its size, or named the two shapes."""
    return _watched.prove_mismatch_by_words(fault, raw) if _watched.watched(raw) else NOT_EXERCISED


FAULT = _watched.fault_of_rank(
    id="shape-mismatch",
    title="Shapes that differ",
    description="One rank pads a bucket of its gradients to another multiple, or freezes a layer that its peers train.",
    params=ShapeParams,
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
