"""One rank's host is throttled: its processes run in short slices with forced pauses between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, counted_of, params_of, rank_of
from gpu_worker.injectors.stop_continue import StopContinue
from gpu_worker.specs import Fault, Setting

ID = "throttled-rank"
OFF_S = 0.006
SHARE_TOLERANCE = 0.25
LEAST_WANTED = 0.1  # a ramp hardly begins within a short measurement


class ThrottleParams(Params):
    duty: float = Field(
        default=0.3,
        ge=0.15,
        le=0.8,
        description="share of the time that the rank may run",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )
    ramp_s: float = Field(
        default=0.0,
        ge=0.0,
        le=60.0,
        description="how long the measured part takes to sink to that share; 0: it has it from the start",
        json_schema_extra={"unit": "s", "kind": "time"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    params, rank = params_of(ThrottleParams, fault), rank_of(setting, fault)
    on_s = OFF_S * params.duty / (1 - params.duty)
    stops = StopContinue(host=setting.placement[rank], on_s=on_s, off_s=OFF_S, ramp_s=params.ramp_s)
    return Changes(acts=(stops,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The processes were stopped for about the share of the measured time that was asked for."""
    (act,) = plan(Setting.model_validate(raw["setting"]), fault).acts
    counted = counted_of(raw, act)
    if counted["host"] not in raw["placement"]:
        return NOT_EXERCISED
    params = params_of(ThrottleParams, fault)
    wanted = (1 - params.duty) * ramped(params.ramp_s, raw["measured_wall_s"])
    if wanted < LEAST_WANTED:
        return NOT_EXERCISED
    stops, share = counted["stops"], counted["stopped_s"] / raw["measured_wall_s"]
    if stops < 1 or abs(share - wanted) > SHARE_TOLERANCE * wanted:
        raise FaultDidNotFire(f"{fault.place} should be stopped for {wanted:.2f} of the time, but was for {share:.2f}")
    return {"stops": stops, "stopped_share": round(share, 3)}


def ramped(ramp_s: float, wall_s: float) -> float:
    """Mean over wall_s of what grows evenly to 1 in ramp_s."""
    return 1 - ramp_s / (2 * wall_s) if ramp_s <= wall_s else wall_s / (2 * ramp_s)


FAULT = FaultKind(
    id=ID,
    title="A throttled rank",
    description="Every process of one rank's host is stopped and continued in periods of a few milliseconds.",
    place_kind="rank",
    params=ThrottleParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times", "host-telemetry", "collective-arrivals", "microbenchmark-sweep", "host-swap"),
    spares=(
        "microbenchmark[placement=as-job,size=job]",
        "pairwise-bandwidth[scope=disjoint-pairs]",
        "input-timings",
        "memory-by-rank",
        "link-error-counters",
        "link-rates[scope=all]",
    ),
)
