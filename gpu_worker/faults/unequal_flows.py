"""One flow of the ring among many of somebody else's: TCP shares a link by connections, so the job gets one part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import SPARED, spare_hosts, uplink_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.faults.oversubscribed_spine import WITH_SPARE_HOSTS
from gpu_worker.injectors.background_traffic import BackgroundTraffic
from gpu_worker.specs import Fault, Setting

ID = "unequal-flows"
# Of the link's nominal rate; the others' connections together take well over it.
LEAST_SHARE = 0.25


class FlowParams(Params):
    connections: int = Field(
        default=2,
        ge=2,
        le=16,
        description="of the others, each as greedy as the ring's one",
        json_schema_extra={"unit": "connections", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    cable = uplink_of(setting, fault)
    low, far = spare_hosts(setting, fault, cable)
    connections = params_of(FlowParams, fault).connections
    act = BackgroundTraffic(link=cable.id, low=low, far=far, rate=0, connections=connections)
    return Changes(acts=(act,), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The others' connections carried a good part of the uplink while a flow of the ring crossed it."""
    (counted,) = injected(raw, "background-traffic")
    if raw["packed"] or raw["interface"] != "fabric":
        return NOT_EXERCISED
    cable = uplink_of(Setting.model_validate(raw["setting"]), fault)
    rate = 8 * counted["bytes_sent"] / raw["measured_wall_s"]
    if rate < LEAST_SHARE * cable.nominal:
        raise FaultDidNotFire(f"others should fill {cable.id}, but sent {rate:.0f} bit/s")
    return {"link": cable.id, "connections": counted["connections"], "others_bits_per_s": round(rate)}


FAULT = FaultKind(
    id=ID,
    title="Unequal flows",
    description="Hosts without a rank fill an uplink of the ring with several connections, against the ring's one.",
    place_kind="link",
    params=FlowParams,
    plan=plan,
    fired=fired,
    shows=("link-utilisation", "microbenchmark[placement=as-job,size=job]"),
    spares=(*SPARED, "path-map", "link-error-counters"),
    trial=Trial(setting=WITH_SPARE_HOSTS),
)
