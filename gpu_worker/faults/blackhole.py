"""From a moment on one link carries nothing, both ways, stays up and counts no drop: whoever needs it hangs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._links import cable_of, ways_of
from gpu_worker.faults._watched import SHOWS_ALL
from gpu_worker.faults.base import Changes, FaultKind, Params, Trial, injected, params_of
from gpu_worker.injectors.blackhole import Blackhole
from gpu_worker.specs import Fault, Setting

ID = "blackhole"


class BlackholeParams(Params):
    after_bytes: int = Field(
        default=60_000_000,
        ge=1_000,
        le=200_000_000,
        description="traffic of the ranks that still passes, each way",
        json_schema_extra={"unit": "B", "kind": "data"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    cable = cable_of(setting, fault)
    act = Blackhole(ways=ways_of(cable), after_bytes=params_of(BlackholeParams, fault).after_bytes)
    return Changes(acts=(act,), must_cross=(cable.id,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel counted packets that it swallowed on the link."""
    (counted,) = injected(raw, "blackhole")
    if counted["swallowed"] < 1:
        raise FaultDidNotFire(f"{' and '.join(counted['ways'])} should swallow packets, but the run ended before")
    return {"ways": list(counted["ways"]), "swallowed": int(counted["swallowed"])}


FAULT = FaultKind(
    id=ID,
    title="A blackhole",
    description="One cable drops all packets, both ways, once some traffic has passed; it stays up and counts nothing.",
    place_kind="link",
    params=BlackholeParams,
    plan=plan,
    fired=fired,
    shows=SHOWS_ALL,
    trial=Trial(place="link:host1-leaf0", params={"after_bytes": 8_000_000}),
)
