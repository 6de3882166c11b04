"""Sequence lengths differ from step to step and from rank to rank: some rank is always the last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "uneven-sequences"
SPREAD_AT_LEAST = 1.2


class SpreadParams(Params):
    sigma: float = Field(
        default=1.2,
        ge=0.3,
        le=2,
        description="spread of the log-normal that the tokens of each batch are drawn from; their mean stays",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    return Changes(job={"length_spread": params_of(SpreadParams, fault).sigma})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By the ranks' own counts the busiest rank of a step had clearly more tokens than the mean of all."""
    if not trained(raw):
        return NOT_EXERCISED
    counts = list(zip(*([step["tokens"] for step in rank["steps"]] for rank in raw["ranks"]), strict=True))
    excess = sum(max(step) / (sum(step) / len(step)) for step in counts) / len(counts)
    if excess < SPREAD_AT_LEAST:
        raise FaultDidNotFire(f"the busiest rank should have more tokens than the mean, but has {excess:.2f} of it")
    return {"busiest_over_mean": round(excess, 3), "busiest_ranks": sorted({step.index(max(step)) for step in counts})}


FAULT = FaultKind(
    id=ID,
    title="Uneven sequences",
    description="The tokens of each rank's batch are drawn anew every step, with a long tail and an unchanged mean.",
    place_kind="none",
    params=SpreadParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity",),
    spares=("input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
