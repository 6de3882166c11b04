"""Decoding a batch takes the loader's workers longer than a step takes the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "slow-loader"


class LoaderParams(Params):
    passes: int = Field(
        default=40,
        ge=1,
        le=200,
        description="merging passes over each document's bytes, in plain Python",
        json_schema_extra={"unit": "", "kind": "count"},
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=4,
        description="worker processes a rank",
        json_schema_extra={"unit": "", "kind": "count"},
    )
    prefetch: int = Field(
        default=0,
        ge=0,
        le=16,
        description="batches that the workers are ahead; 0: they begin when the step asks",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params = params_of(LoaderParams, fault)
    return Changes(job={"decode_passes": params.passes, "loader_workers": params.workers, "prefetch": params.prefetch})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank's workers merged pairs of bytes, and its steps waited for them."""
    if not trained(raw):
        return NOT_EXERCISED
    merged = [rank["computed"].get("pairs_merged", 0) for rank in raw["ranks"]]
    waited = [sum(step["input_s"] for step in rank["steps"]) / len(rank["steps"]) for rank in raw["ranks"]]
    if not all(merged):
        raise FaultDidNotFire(f"every rank's workers should decode, but by rank they merged {merged} pairs")
    return {"pairs_merged": min(merged), "wait_s_a_step": round(min(waited), 4)}


FAULT = FaultKind(
    id=ID,
    title="A loader too slow for the step",
    description="Worker processes of every rank decode documents in plain Python, for longer than a step lasts.",
    place_kind="none",
    params=LoaderParams,
    plan=plan,
    fired=fired,
    shows=("synthetic-batch",),
    spares=("bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
