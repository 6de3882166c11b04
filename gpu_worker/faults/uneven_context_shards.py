"""A long sample is cut into contiguous shards: under the causal mask the last rank has by far the most attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._parallel import changed, ran_job, steps_of, trial
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place
from gpu_worker.specs import Fault, Parallel, Setting, Topology

ID = "uneven-context-shards"
FORM = "context"
UNEVEN = 1.5


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    refuse_place(fault)
    return changed(setting, fault, FORM, context_shards="contiguous")


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Every rank held as many tokens as the others, and those of some attended to far more than those of others."""
    if not ran_job(raw, FORM):
        return NOT_EXERCISED
    reach = [steps[0]["attends_to"] for steps in steps_of(raw)]
    tokens = {steps[0]["tokens"] for steps in steps_of(raw)}
    if len(tokens) != 1 or max(reach) < UNEVEN * min(reach):
        raise FaultDidNotFire(f"equal shards should attend unequally, but {tokens} tokens attend to {reach}")
    return {"tokens_a_rank": tokens.pop(), "attends_to": [round(one) for one in reach]}


FAULT = FaultKind(
    id=ID,
    title="Uneven context shards",
    description="Ranks hold contiguous shards of a long sample, so that late ones attend to far more than early ones.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times",),
    spares=("link-rates[scope=all]", "placement-map"),
    trial=trial(Parallel(form="context"), Topology(kind="flat", hosts=4), microbatch=1),
)
