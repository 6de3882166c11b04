"""A link goes down for moments while the job runs; what was under way is lost and sent again after a time-out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import SPARED, cable_of, ways_of
from gpu_worker.faults.base import Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.injectors.flapping_link import FlappingLink
from gpu_worker.specs import Fault, Setting

ID = "flapping-link"


class FlapParams(Params):
    down_s: float = Field(
        default=0.08,
        ge=0.005,
        le=0.2,
        description="how long the link is down each time",
        json_schema_extra={"unit": "s", "kind": "time"},
    )
    every_s: float = Field(
        default=0.3,
        ge=0.2,
        le=5,
        description="mean time between two flaps",
        json_schema_extra={"unit": "s", "kind": "time"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    params, cable = params_of(FlapParams, fault), cable_of(setting, fault)
    # The end away from the ring's hosts: had a leaf lost its own port, it would send by another spine at once.
    act = FlappingLink(way=ways_of(cable)[1], down_s=params.down_s, every_s=params.every_s)
    return Changes(acts=(act,), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel counted that the other end lost its carrier in the measured part."""
    (counted,) = injected(raw, "flapping-link")
    if counted["carrier_downs"] < 1:
        raise FaultDidNotFire(f"{counted['way']} should go down about every {counted['every_s']} s, but never did")
    return {"carrier_downs": int(counted["carrier_downs"]), "in_s": round(raw["measured_wall_s"], 2)}


FAULT = FaultKind(
    id=ID,
    title="A flapping link",
    description="One end of a cable is set down and up again for short moments while the job runs.",
    place_kind="link",
    params=FlapParams,
    plan=plan,
    fired=fired,
    # The counters of errors tell it by the carrier that was lost; what TCP sends again is too little to be sure of.
    shows=("microbenchmark[placement=as-job,size=job]",),
    spares=(*SPARED, "path-map", "link-utilisation"),
    trial=Trial(place="link:host1-leaf0"),
)
