"""Other processes come to the core of one rank, compute there for a while, and go again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, counted_of, params_of, rank_of
from gpu_worker.faults.core_contention import TWO_HOSTS, waited_for
from gpu_worker.injectors.neighbour import MOST_PROCESSES, Neighbour
from gpu_worker.specs import Fault, Setting

ID = "passing-neighbour"
LEAST_CPU_SHARE = 0.05


class PassingParams(Params):
    processes: float = Field(
        default=6,
        ge=1,
        le=MOST_PROCESSES,
        description="processes that compute on the rank's core while they are there",
        json_schema_extra={"unit": "processes", "kind": "count"},
    )
    stay_s: float = Field(
        default=1.5,
        ge=0.3,
        le=20,
        description="how long they stay, and then stay away",
        json_schema_extra={"unit": "s", "kind": "time"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    host, params = setting.placement[rank_of(setting, fault)], params_of(PassingParams, fault)
    neighbour = Neighbour(host=host, processes=round(params.processes), on_s=params.stay_s, off_s=params.stay_s)
    return Changes(acts=(neighbour,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The neighbours burnt processor time while the run measured; in the job the rank waited for its core."""
    (act,) = plan(Setting.model_validate(raw["setting"]), fault).acts
    counted = counted_of(raw, act)
    if counted["host"] not in raw["placement"]:
        return NOT_EXERCISED
    share = counted["cpu_s"] / raw["measured_wall_s"]
    if share < LEAST_CPU_SHARE:
        if raw["experiment"] != "job":  # a short measurement may fall between two visits
            return NOT_EXERCISED
        raise FaultDidNotFire(f"a neighbour of {fault.place} should come by, but computed {share:.2f} of the time")
    return {"neighbours_cores": round(share, 3), **waited_for(raw, raw["placement"].index(counted["host"]))}


FAULT = FaultKind(
    id=ID,
    title="A passing neighbour",
    description="Processes that have nothing to do with the job come to one rank's core, compute, and leave again.",
    place_kind="rank",
    params=PassingParams,
    plan=plan,
    fired=fired,
    shows=("host-telemetry",),
    spares=("input-timings", "link-error-counters", "microbenchmark[placement=as-job,size=job]"),
    trial=Trial(place="rank:1", setting=TWO_HOSTS),
)
