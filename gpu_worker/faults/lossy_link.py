"""A link loses a small part of its packets, at random and both ways; TCP sends them again and slows down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import SPARED, cable_of, ways_of
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.injectors.lossy_link import LossyLink
from gpu_worker.specs import Fault, Setting

ID = "lossy-link"
PACKET_BYTES, PER = 1514, 1_000_000
MANY_PACKETS = 2000
# Losses come at random: of 20 expected, 4 to 60 is what a right rate gives, all but never anything else.
LEAST, MOST = 0.2, 3.0


class LossParams(Params):
    per_million: int = Field(
        default=13_000,
        ge=500,
        le=200_000,
        description="packets lost, each way",
        json_schema_extra={"unit": "packets per million", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    cable = cable_of(setting, fault)
    act = LossyLink(ways=ways_of(cable), per_million=params_of(LossParams, fault).per_million)
    return Changes(acts=(act,), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel counted about as many drops on the link as the rate and its traffic ask for."""
    (counted,) = injected(raw, "lossy-link")
    ways = ways_of(cable_of(Setting.model_validate(raw["setting"]), fault))
    carried = sum(raw["counters"][way]["bytes"] for way in ways) / PACKET_BYTES
    if carried < MANY_PACKETS:
        return NOT_EXERCISED
    lost = counted["lost_by_netem"] + counted["lost_by_nftables"]
    expected = carried * counted["per_million"] / PER
    if not LEAST * expected <= lost <= MOST * expected:
        raise FaultDidNotFire(f"{' and '.join(ways)} should lose about {expected:.0f} packets, but lost {lost:.0f}")
    return {"lost": int(lost), "of": round(carried), "by": "netem" if counted["lost_by_netem"] else "nftables"}


FAULT = FaultKind(
    id=ID,
    title="A lossy link",
    description="One cable drops a small part of its packets at random, both ways, with segmentation offload off.",
    place_kind="link",
    params=LossParams,
    plan=plan,
    fired=fired,
    shows=("link-error-counters", "microbenchmark[placement=as-job,size=job]"),
    spares=(*SPARED, "path-map", "link-utilisation"),
    trial=Trial(place="link:host1-leaf0"),
)
