"""Gradients are cast to another precision while they are reduced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults.base import (
    NOT_EXERCISED,
    Changes,
    FaultKind,
    Params,
    each_step,
    params_of,
    refuse_place,
    trained,
)
from gpu_worker.jobs.shape import DIMENSIONS, WIRE_BYTES
from gpu_worker.specs import Fault, Setting

ID = "communication-precision"
DTYPES = {bytes_: name for name, bytes_ in WIRE_BYTES.items()}


class PrecisionParams(Params):
    bytes: int = Field(
        default=8,
        ge=2,
        le=8,
        description="bytes of a number on the wire: 2, 4 or 8",
        json_schema_extra={"unit": "B", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    wanted, healthy = params_of(PrecisionParams, fault).bytes, setting.baseline_job.communication_dtype
    if wanted not in DTYPES or DTYPES[wanted] == healthy:
        others = " or ".join(str(size) for size, name in DTYPES.items() if name != healthy)
        raise BadSpec(f"fault {ID}: bytes is {wanted}, but must be {others}")
    return Changes(job={"communication_dtype": DTYPES[wanted]})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The collectives of every step held that many bytes for each number of the model."""
    if not trained(raw):
        return NOT_EXERCISED
    numbers = sum(DIMENSIONS.tensors(raw["job"]["small_tensors"]))
    wanted = params_of(PrecisionParams, fault).bytes * numbers
    seen = {sum(one["bytes"] for one in step["collectives"] if "what" not in one) for step in each_step(raw)}
    if seen != {wanted}:
        raise FaultDidNotFire(f"a step should reduce {wanted} bytes, but they reduced {sorted(seen)}")
    return {"bytes_a_step": wanted}


FAULT = FaultKind(
    id=ID,
    title="Another precision of communication",
    description="Gradients are cast to another precision while they are reduced, which changes their bytes.",
    place_kind="none",
    params=PrecisionParams,
    plan=plan,
    fired=fired,
    shows=("bucket-sizes",),
    spares=("per-rank-step-times", "input-timings"),
)
