"""The batch is cut into too few microbatches: stages wait while the pipeline fills and drains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults._parallel import changed, ran_job, steps_of, trial
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place
from gpu_worker.specs import Fault, Parallel, Setting, Topology

ID = "too-few-microbatches"
FORM = "pipeline"


class MicrobatchParams(Params):
    microbatches: int = Field(
        default=1,
        ge=1,
        le=32,
        description="microbatches a step, below what the healthy run has",
        json_schema_extra={"unit": "microbatches", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    count, healthy = params_of(MicrobatchParams, fault).microbatches, setting.job.parallel.microbatches
    changes = changed(setting, fault, FORM, microbatches=count)
    if count >= healthy:
        raise BadSpec(f"fault {ID}: microbatches is {count}, but must be below the healthy run's {healthy}")
    return changes


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every stage really took its input so many times a step from its neighbour, or both of them."""
    if not ran_job(raw, FORM):
        return NOT_EXERCISED
    wanted = params_of(MicrobatchParams, fault).microbatches
    stages = 1 + max(steps[0]["stage"] for steps in steps_of(raw))
    for steps in steps_of(raw):
        neighbours = (steps[0]["stage"] > 0) + (steps[0]["stage"] < stages - 1)
        received = {sum(entry["op"] == "receive" for entry in step["collectives"]) for step in steps}
        if received != {wanted * neighbours}:
            raise FaultDidNotFire(
                f"stage {steps[0]['stage']} should receive {wanted * neighbours} times a step, but did {received}"
            )
    return {"microbatches": wanted, "stages": stages}


FAULT = FaultKind(
    id=ID,
    title="Too few microbatches",
    description="The batch is cut into too few microbatches, so that stages idle while the pipeline fills and drains.",
    place_kind="none",
    params=MicrobatchParams,
    plan=plan,
    fired=fired,
    shows=("overlap-trace",),
    spares=("per-rank-step-times", "link-rates[scope=all]", "placement-map"),
    # Two stages: with one core each, as on the machines of the lab, their bubble is the formula's.
    trial=trial(Parallel(form="pipeline"), Topology(kind="flat", hosts=2, link_rate=2_000_000_000), ranks=2),
)
