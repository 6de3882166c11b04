"""One direction of a link runs below its nominal rate; the other is as it was bought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.faults._links import cable_of, must_be_lower, rates_as_wanted, ways_of
from gpu_worker.faults.base import Changes, FaultKind, Params, Trial, params_of
from gpu_worker.specs import Fault, Setting

ID = "oneway-degradation"


class OnewayParams(Params):
    rate: float = Field(
        default=160e6,
        ge=5e6,
        le=1e10,
        description="what the direction still carries; below the link's nominal rate",
        json_schema_extra={"unit": "bit/s", "kind": "rate"},
    )
    way: int = Field(
        default=0,
        ge=0,
        le=1,
        description="0: from the link's first end to its second, 1: the other way",
        json_schema_extra={"unit": "", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    params, cable = params_of(OnewayParams, fault), cable_of(setting, fault)
    must_be_lower(fault, cable, params.rate)
    return Changes(oneway_rates={ways_of(cable)[params.way]: int(params.rate)}, must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's buckets hold the lower rate in that direction, and the nominal one in the other."""
    params, cable = params_of(OnewayParams, fault), cable_of(Setting.model_validate(raw["setting"]), fault)
    ways = ways_of(cable)
    lower = rates_as_wanted(raw, ways[params.way : params.way + 1], params.rate)
    return {"rates": lower | rates_as_wanted(raw, ways[1 - params.way : 2 - params.way], cable.nominal)}


FAULT = FaultKind(
    id=ID,
    title="A link degraded one way",
    description="The token bucket of one direction of a cable is set below its nominal rate, that of the other is not.",
    place_kind="link",
    params=OnewayParams,
    plan=plan,
    fired=fired,
    shows=("link-rates[scope=all]", "microbenchmark[placement=as-job,size=job]"),
    spares=(
        "per-rank-step-times",
        "host-telemetry",
        "link-error-counters",
        "microbenchmark[placement=packed,size=job]",
    ),
    trial=Trial(place="link:host1-leaf0", params={"rate": 160e6, "way": 0}),
)
