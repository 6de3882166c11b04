"""One host's way to the storage carries less than the others'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec
from gpu_worker.faults._links import rates_as_wanted
from gpu_worker.faults.base import Changes, FaultKind, Trial, params_of, rank_of
from gpu_worker.faults.slow_storage import SlowStorageParams
from gpu_worker.specs import Fault, Setting

ID = "slow-writer"


def plan(setting: Setting, fault: Fault) -> Changes:
    rate = round(params_of(SlowStorageParams, fault).rate)
    if rate >= setting.topology.management_rate:
        raise BadSpec(f"fault {ID}: rate is {rate}, but must be below the links' {setting.topology.management_rate}")
    return Changes(link_rates={f"{host_of(setting, fault)}-mgmt": rate})


def host_of(setting: Setting, fault: Fault) -> str:
    return f"host{setting.placement[rank_of(setting, fault)]}"


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's buckets of that host's link to the storage hold the lower rate after the run."""
    host = host_of(Setting.model_validate(raw["setting"]), fault)
    ways = (f"{host}->mgmt", f"mgmt->{host}")
    return {"rates": rates_as_wanted(raw, ways, params_of(SlowStorageParams, fault).rate)}


FAULT = FaultKind(
    id=ID,
    title="One slow writer",
    description="The link of one host to the storage is set lower than those of its peers.",
    place_kind="rank",
    params=SlowStorageParams,
    plan=plan,
    fired=fired,
    shows=("storage-throughput[writers=all]",),
    spares=("checkpoint-manifest", "checkpoint-contents"),
    trial=Trial(place="rank:2"),
)
