"""Other processes compute on the core of one rank, all the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, Trial, counted_of, params_of, rank_of
from gpu_worker.injectors.neighbour import MOST_PROCESSES, Neighbour
from gpu_worker.specs import Fault, Job, Setting, Topology

ID = "core-contention"
# Of the measured time. A neighbour that got less did not take a core from anybody.
LEAST_CPU_SHARE = 0.2
# A core for each rank, so that the neighbour is the only one beside it.
TWO_HOSTS = Setting(topology=Topology(kind="flat", hosts=2), placement=(0, 1), job=Job(measured_steps=10))


class NeighbourParams(Params):
    processes: float = Field(
        default=2,
        ge=1,
        le=MOST_PROCESSES,
        description="processes that compute on the rank's core",
        json_schema_extra={"unit": "processes", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    host = setting.placement[rank_of(setting, fault)]
    return Changes(acts=(Neighbour(host=host, processes=round(params_of(NeighbourParams, fault).processes)),))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The neighbours really burnt processor time while the run measured; in the job the rank waited for its core."""
    (act,) = plan(Setting.model_validate(raw["setting"]), fault).acts
    counted = counted_of(raw, act)
    if counted["host"] not in raw["placement"]:
        return NOT_EXERCISED
    share = counted["cpu_s"] / raw["measured_wall_s"]
    if share < LEAST_CPU_SHARE:
        raise FaultDidNotFire(f"neighbours of {fault.place} should compute, but got {share:.2f} of a core")
    return {"neighbours_cores": round(share, 3), **waited_for(raw, raw["placement"].index(counted["host"]))}


def waited_for(raw: Mapping[str, Any], rank: int) -> dict[str, float]:
    """Seconds that the rank's computing thread waited for a core, of a job. Raises FaultDidNotFire where it did not."""
    if raw["experiment"] != "job":
        return {}
    waited_s = raw["ranks"][rank]["telemetry"]["run_delay_s"]
    if waited_s <= 0:
        raise FaultDidNotFire(f"rank {rank} should wait for its core, but the scheduler counted no delay")
    return {"waited_s": round(waited_s, 3)}


FAULT = FaultKind(
    id=ID,
    title="Contention for a core",
    description="Processes that have nothing to do with the job really compute on the core of one rank.",
    place_kind="rank",
    params=NeighbourParams,
    plan=plan,
    fired=fired,
    shows=("host-telemetry", "collective-arrivals"),
    spares=("input-timings", "link-error-counters", "microbenchmark[placement=as-job,size=job]"),
    trial=Trial(place="rank:1", setting=TWO_HOSTS),
)
