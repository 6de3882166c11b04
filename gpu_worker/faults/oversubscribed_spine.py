"""An uplink that the ring uses also carries somebody else's traffic, so that less is left than the job needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import SPARED, spare_hosts, uplink_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.injectors.background_traffic import BackgroundTraffic
from gpu_worker.specs import Fault, Setting, Topology

ID = "oversubscribed-spine"
# A sender that shares the link with the job gets less than it asks for, but not so little that nothing was done.
LEAST = 0.5
# One host a leaf without a rank: that is where the others are.
WITH_SPARE_HOSTS = Setting(topology=Topology(hosts_per_leaf=3), placement=(0, 1, 3, 4), baseline_placement=(0, 1, 3, 4))


class TrafficParams(Params):
    share: float = Field(
        default=0.65,
        ge=0.2,
        le=0.9,
        description="of the uplink's rate that the others send",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    cable = uplink_of(setting, fault)
    low, far = spare_hosts(setting, fault, cable)
    rate = params_of(TrafficParams, fault).share * cable.nominal
    return Changes(acts=(BackgroundTraffic(link=cable.id, low=low, far=far, rate=rate),), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The others sent at least half of what they should, while a flow of the ring crossed the same uplink."""
    (counted,) = injected(raw, "background-traffic")
    if raw["packed"] or raw["interface"] != "fabric":
        return NOT_EXERCISED
    rate = 8 * counted["bytes_sent"] / raw["measured_wall_s"]
    if rate < LEAST * counted["rate"]:
        raise FaultDidNotFire(
            f"others should send {counted['rate']:.0f} bit/s over {counted['link']}, but sent {rate:.0f}"
        )
    return {"link": counted["link"], "others_bits_per_s": round(rate)}


FAULT = FaultKind(
    id=ID,
    title="An oversubscribed spine",
    description="Hosts without a rank send to each other over an uplink that the ring takes, and in its direction.",
    place_kind="link",
    params=TrafficParams,
    plan=plan,
    fired=fired,
    shows=("link-utilisation", "microbenchmark[placement=as-job,size=job]"),
    spares=(*SPARED, "path-map", "link-error-counters"),
    trial=Trial(setting=WITH_SPARE_HOSTS),
)
