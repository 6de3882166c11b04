"""One end of a cable takes smaller packets than the other sends: small messages pass and large ones hang, silently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import cable_of, ways_of
from gpu_worker.faults._watched import SHOWS_ALL
from gpu_worker.faults.base import Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.injectors.mtu_mismatch import MtuMismatch
from gpu_worker.specs import Fault, Setting

ID = "mtu-mismatch"


class MtuParams(Params):
    mtu: int = Field(
        default=1400,
        ge=576,
        le=1480,
        description="what the link's second end takes; its first end sends packets of 1500 bytes",
        json_schema_extra={"unit": "B", "kind": "data"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    cable = cable_of(setting, fault)
    act = MtuMismatch(way=ways_of(cable)[0], mtu=params_of(MtuParams, fault).mtu)
    return Changes(acts=(act,), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The smaller end dropped packets; where all messages were small enough there was nothing to drop."""
    (counted,) = injected(raw, "mtu-mismatch")
    if counted["too_large"] < 1:
        if raw["counters"][counted["way"]]["bytes"] and raw["experiment"] == "microbenchmark":
            return {"exercised": False, "way": counted["way"]}
        raise FaultDidNotFire(f"{counted['way']} should refuse large packets, but saw none")
    return {"way": counted["way"], "too_large": int(counted["too_large"])}


FAULT = FaultKind(
    id=ID,
    title="An MTU mismatch",
    description="The far end of a cable has a smaller MTU: it drops large packets and tells nobody, small ones pass.",
    place_kind="link",
    params=MtuParams,
    plan=plan,
    fired=fired,
    shows=SHOWS_ALL,
    trial=Trial(place="link:host1-leaf0"),
)
