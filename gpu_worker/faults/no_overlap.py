"""Gradients are reduced only after the whole backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place, trained
from gpu_worker.specs import Fault, Setting

ID = "no-overlap"


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params_of(NoParams, fault)
    return Changes(job={"overlap": False})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """No collective of any step was launched before that step's backward pass was over."""
    if not trained(raw):
        return NOT_EXERCISED
    early = sum(
        collective["launch"] < step["start"] + step["input_s"] + step["forward_s"] + step["backward_s"]
        for rank in raw["ranks"]
        for step in rank["steps"]
        for collective in step["collectives"]
    )
    if early:
        raise FaultDidNotFire(f"{early} collectives were launched while a backward pass still ran")
    return {"collectives_under_backward": early}


FAULT = FaultKind(
    id=ID,
    title="No overlap",
    description="Gradients gather without synchronisation and are reduced in one go behind the backward pass.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("overlap-trace",),
    spares=(
        "microbenchmark[placement=as-job,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-error-counters",
    ),
)
