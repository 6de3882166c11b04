"""The router sends most tokens to one expert: its rank computes for all, and the others wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults._parallel import changed, ran_job, steps_of, trial
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, rank_of
from gpu_worker.jobs.layout import groups
from gpu_worker.specs import Fault, Parallel, Setting, Topology

ID = "hot-expert"
FORM = "expert"
HOT = 1.5  # times an even share


class RouterParams(Params):
    bias: float = Field(
        default=1.5,
        ge=0.5,
        le=8.0,
        description="logits by which the router favours the expert",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def expert_of(setting: Setting, rank: int) -> int:
    """The expert that a rank holds: its index in its expert group."""
    for group in groups(setting.job.parallel, len(setting.placement))[FORM]:
        if rank in group:
            return group.index(rank)
    raise AssertionError(f"rank {rank} is in no expert group")


def plan(setting: Setting, fault: Fault) -> Changes:
    rank, bias = rank_of(setting, fault), params_of(RouterParams, fault).bias
    changes = changed(setting, fault, FORM, router="collapsed", router_bias=bias)  # names the form first
    hot = changes.job["parallel"] | {"hot_expert": expert_of(setting, rank)}
    return Changes(job={"parallel": hot})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The all-to-alls really carried clearly more than an even share of the tokens to that expert."""
    if not ran_job(raw, FORM):
        return NOT_EXERCISED
    expert = expert_of(Setting.model_validate(raw["setting"]), rank_of(Setting.model_validate(raw["setting"]), fault))
    sent = [step["tokens_to_expert"] for steps in steps_of(raw) for step in steps]
    totals = [sum(counts) for counts in zip(*sent, strict=True)]
    share = totals[expert] / max(sum(totals), 1)
    if share < HOT / len(totals):
        raise FaultDidNotFire(f"expert {expert} should get most tokens, but got {share:.2f} of them")
    return {"expert": expert, "share": round(share, 3)}


FAULT = FaultKind(
    id=ID,
    title="A hot expert",
    description="The router has come to favour one expert and nothing balances it: most tokens go to one rank.",
    place_kind="rank",
    params=RouterParams,
    plan=plan,
    fired=fired,
    shows=("per-rank-step-times",),
    spares=("link-rates[scope=all]", "placement-map"),
    trial=trial(Parallel(form="expert"), Topology(kind="flat", hosts=4), place="rank:2"),
)
