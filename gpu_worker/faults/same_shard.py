"""All ranks draw the same samples in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "same-shard"


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params_of(NoParams, fault)
    return Changes(job={"same_shard": True})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """In every step each rank trained on the samples that rank 0 had."""
    if not trained(raw):
        return NOT_EXERCISED
    steps = list(zip(*([step["sample_ids"] for step in rank["steps"]] for rank in raw["ranks"]), strict=True))
    if any(ids != step[0] for step in steps for ids in step):
        raise FaultDidNotFire("all ranks should train on the same samples, but some had others")
    return {"same_steps": len(steps)}


FAULT = FaultKind(
    id=ID,
    title="Every rank reads the same shard",
    description="The loader's order does not depend on the rank, so that all ranks train on the same samples.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity",),
    spares=("per-rank-step-times", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
