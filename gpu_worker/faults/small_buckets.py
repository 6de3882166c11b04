"""Gradients are reduced in buckets so small that each collective costs its latency and hardly a byte."""

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
    Trial,
    each_step,
    params_of,
    refuse_place,
    trained,
)
from gpu_worker.jobs.shape import DIMENSIONS, planned_buckets
from gpu_worker.specs import Fault, Job, Setting

ID = "small-buckets"
MEBIBYTE = 1 << 20
# As many as hold useful work at about 0.6 of healthy; the model's own 54 tensors alone leave 0.87 of it.
TRIAL_TENSORS = 112


class BucketParams(Params):
    cap_bytes: int = Field(
        default=512,
        ge=4,
        le=1_000_000,
        description="what a bucket holds before it is reduced; below what the healthy run has",
        json_schema_extra={"unit": "B", "kind": "data"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    cap = params_of(BucketParams, fault).cap_bytes
    healthy = setting.baseline_job.bucket_cap_mb * MEBIBYTE
    if cap >= healthy:
        raise BadSpec(f"fault {ID}: cap_bytes is {cap}, but must be below the healthy run's {healthy:.0f}")
    return Changes(job={"bucket_cap_mb": cap / MEBIBYTE})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every step of every rank reduced its gradients in as many buckets as the cap gives."""
    if not trained(raw):
        return NOT_EXERCISED
    job = raw["job"]
    expected = len(planned_buckets(params_of(BucketParams, fault).cap_bytes, small_tensors=job["small_tensors"]))
    seen = {sum("what" not in one for one in step["collectives"]) for step in each_step(raw)}
    if seen != {expected}:
        raise FaultDidNotFire(f"a step should reduce {expected} buckets, but they reduced {sorted(seen)}")
    return {"collectives_a_step": expected, "tensors": len(DIMENSIONS.tensors(job["small_tensors"]))}


FAULT = FaultKind(
    id=ID,
    title="Small buckets",
    description="The cap of a gradient bucket is set so low that most tensors are reduced alone.",
    place_kind="none",
    params=BucketParams,
    plan=plan,
    fired=fired,
    shows=("bucket-sizes",),
    spares=("per-rank-step-times", "input-timings", "microbenchmark[placement=as-job,size=job]"),
    trial=Trial(setting=Setting(job=Job(small_tensors=TRIAL_TENSORS), baseline_job=Job(small_tensors=TRIAL_TENSORS))),
)
