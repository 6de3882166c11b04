"""The library binds to the management interface instead of the fabric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.fabric.plan import MANAGEMENT_INTERFACE
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place
from gpu_worker.specs import Fault, Setting

ID = "fallback-transport"


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params_of(NoParams, fault)
    return Changes(job={"interface": "management"})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank's established connections have a management address."""
    if raw["packed"]:
        return NOT_EXERCISED
    used = sorted({rank["interface"] for rank in raw["ranks"]})
    if used != [MANAGEMENT_INTERFACE]:
        raise FaultDidNotFire(f"the ranks should talk over {MANAGEMENT_INTERFACE}, but their sockets show {used}")
    return {"interfaces": used}


FAULT = FaultKind(
    id=ID,
    title="A fallback transport",
    description="The communication library is told to bind to the slow management interface.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=(
        "microbenchmark[placement=as-job,size=job]",
        "pairwise-bandwidth[scope=disjoint-pairs]",
        "library-choices",
    ),
    spares=(
        "microbenchmark[placement=packed,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-rates[scope=all]",
    ),
)
