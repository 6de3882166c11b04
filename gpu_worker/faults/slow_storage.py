"""Every host's way to the storage carries less than it was sold as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import host_count
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place
from gpu_worker.specs import Fault, Setting

ID = "slow-storage"
# Of the rate, what a writer may seem to reach beyond it: the link's bucket lets a first burst through.
BURST_SHARE = 1.1


class SlowStorageParams(Params):
    rate: float = Field(
        default=60e6,
        ge=10e6,
        le=150e6,
        description="of each host's link to the storage, both directions",
        json_schema_extra={"unit": "bit/s", "kind": "rate"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    rate = round(params_of(SlowStorageParams, fault).rate)
    if rate >= setting.topology.management_rate:
        raise BadSpec(f"fault {ID}: rate is {rate}, but must be below the links' {setting.topology.management_rate}")
    return Changes(link_rates={f"host{host}-mgmt": rate for host in range(host_count(setting.topology))})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Nobody wrote faster than the rate allows."""
    if raw["experiment"] != "storage-throughput":
        return NOT_EXERCISED
    rate = params_of(SlowStorageParams, fault).rate
    fastest = max(8 * rank["bytes"] / rank["wrote_s"] for rank in raw["ranks"] if rank["wrote_s"])
    if fastest > BURST_SHARE * rate:
        raise FaultDidNotFire(
            f"a rank wrote at {fastest / 1e6:.0f} Mb/s, though its link should carry {rate / 1e6:.0f}"
        )
    return {"fastest_writer_bits_per_s": round(fastest)}


FAULT = FaultKind(
    id=ID,
    title="Slow storage",
    description="The links of all hosts to the storage are set lower than they were sold as.",
    place_kind="none",
    params=SlowStorageParams,
    plan=plan,
    fired=fired,
    shows=("storage-throughput[writers=all]", "storage-throughput[writers=one]"),
    spares=("checkpoint-manifest", "checkpoint-contents"),
)
