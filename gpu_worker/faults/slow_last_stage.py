"""The last stage of a pipeline has more layers than the others: it sets the pace of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults._parallel import changed, ran_job, steps_of, trial
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, refuse_place
from gpu_worker.jobs.shape import stage_layers
from gpu_worker.specs import Fault, Parallel, Setting, Topology

ID = "slow-last-stage"
FORM = "pipeline"


class StageParams(Params):
    layers: int = Field(
        default=5,
        ge=2,
        le=7,
        description="layers of the last stage, of eight in all",
        json_schema_extra={"unit": "layers", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    layers = params_of(StageParams, fault).layers
    changes = changed(setting, fault, FORM, last_stage_layers=layers)
    stages = setting.job.parallel.group or len(setting.placement)
    try:
        even, uneven = stage_layers(stages), stage_layers(stages, layers)
    except ValueError as problem:
        raise BadSpec(f"fault {ID}: {problem}") from None
    if uneven[-1] <= even[-1]:
        raise BadSpec(f"fault {ID}: layers is {layers}, but an even split gives the last stage {even[-1]} already")
    return changes


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The last stage really ran that many layers in every step, and computed for longest."""
    if not ran_job(raw, FORM):
        return NOT_EXERCISED
    wanted, layers, computed = params_of(StageParams, fault).layers, {}, {}
    for steps in steps_of(raw):
        layers[steps[0]["stage"]] = steps[0]["layers"]
        computed[steps[0]["stage"]] = sum(step["compute_cpu_s"] for step in steps)
    last = max(layers)
    if layers[last] != wanted or max(computed, key=lambda stage: computed[stage]) != last:
        raise FaultDidNotFire(
            f"stage {last} should have {wanted} layers and compute longest, but: {layers}, {computed}"
        )
    return {"layers": [layers[stage] for stage in sorted(layers)]}


FAULT = FaultKind(
    id=ID,
    title="A slow last stage",
    description="The split of the layers gives the last stage of the pipeline more of them than the others have.",
    place_kind="none",
    params=StageParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times",),
    spares=("link-rates[scope=all]", "placement-map"),
    trial=trial(Parallel(form="pipeline"), Topology(kind="flat", hosts=4)),
)
