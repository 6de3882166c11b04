"""One rank's host is throttled: its processes run in short slices with forced pauses between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, injected, params_of, rank_of
from gpu_worker.injectors.stop_continue import StopContinue
from gpu_worker.specs import Fault, Setting

ID = "throttled-rank"
OFF_S = 0.006
SHARE_TOLERANCE = 0.25


class ThrottleParams(Params):
    duty: float = Field(
        default=0.3,
        ge=0.15,
        le=0.8,
        description="share of the time that the rank may run",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    duty, rank = params_of(ThrottleParams, fault).duty, rank_of(setting, fault)
    stops = StopContinue(host=setting.placement[rank], on_s=OFF_S * duty / (1 - duty), off_s=OFF_S)
    return Changes(acts=(stops,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The processes were stopped for about the share of the measured time that was asked for."""
    (counted,) = injected(raw, "stop-continue")
    if counted["host"] not in raw["placement"]:
        return NOT_EXERCISED
    wanted = 1 - params_of(ThrottleParams, fault).duty
    stops, share = counted["stops"], counted["stopped_s"] / raw["measured_wall_s"]
    if stops < 1 or abs(share - wanted) > SHARE_TOLERANCE * wanted:
        raise FaultDidNotFire(f"{fault.place} should be stopped for {wanted:.2f} of the time, but was for {share:.2f}")
    return {"stops": stops, "stopped_share": round(share, 3)}


FAULT = FaultKind(
    id=ID,
    title="A throttled rank",
    description="Every process of one rank's host is stopped and continued in periods of a few milliseconds.",
    place_kind="rank",
    params=ThrottleParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times", "host-telemetry", "collective-arrivals"),
    spares=(
        "microbenchmark[placement=as-job,size=job]",
        "input-timings",
        "link-error-counters",
        "link-rates[scope=all]",
    ),
)
