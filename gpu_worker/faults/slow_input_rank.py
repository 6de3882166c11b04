"""One rank's batches come from a store that delivers slowly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, rank_of, trained
from gpu_worker.specs import Fault, Setting

ID = "slow-input-rank"
TOLERANCE = 0.2


class InputParams(Params):
    bytes_per_s: float = Field(
        default=120e3,
        ge=10e3,
        le=10e6,
        description="what the rank's store delivers",
        json_schema_extra={"unit": "B/s", "kind": "byte-rate"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    return Changes(source_rates={rank_of(setting, fault): params_of(InputParams, fault).bytes_per_s})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The rank's own timer and byte count give the rate, and it is no higher than asked for."""
    if not trained(raw):
        return NOT_EXERCISED
    rank = rank_of(Setting.model_validate(raw["setting"]), fault)
    steps = raw["ranks"][rank]["steps"]
    observed = sum(s["input_bytes"] for s in steps) / sum(s["input_s"] for s in steps)
    wanted = params_of(InputParams, fault).bytes_per_s
    if not wanted * (1 - TOLERANCE) <= observed <= wanted * (1 + TOLERANCE):
        raise FaultDidNotFire(f"rank {rank} should be fed {wanted:.0f} B/s, but got {observed:.0f} B/s")
    return {"observed_bytes_per_s": round(observed)}


FAULT = FaultKind(
    id=ID,
    title="A rank with slow input",
    description="The store that serves one rank's documents paces what it sends.",
    place_kind="rank",
    params=InputParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times", "input-timings", "collective-arrivals", "host-swap"),
    spares=(
        "microbenchmark[placement=as-job,size=job]",
        "host-telemetry",
        "link-error-counters",
        "link-rates[scope=all]",
    ),
)
