"""Tensor groups are laid over ranks on both sides of the slow tier, instead of over neighbours behind the fast one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import leaf_of_host
from gpu_worker.faults._parallel import changed, ran_job, trial
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place
from gpu_worker.jobs.layout import groups
from gpu_worker.specs import Fault, Parallel, Setting, Topology

ID = "tensor-group-across-hosts"
FORM = "tensor"
TWO_NODES = Topology(kind="two-tier")


def plan(setting: Setting, fault: Fault) -> Changes:
    params_of(NoParams, fault)
    refuse_place(fault)
    changes = changed(setting, fault, FORM, inner="data")
    parallel = setting.job.parallel.model_copy(update={"inner": "data"})
    if not any(_spans(setting, group) for group in groups(parallel, len(setting.placement))[FORM]):
        raise BadSpec(
            f"fault {ID} needs a fabric of two nodes or leaves or more, with tensor groups smaller than the job"
        )
    return changes


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The process groups that the ranks really made span nodes or leaves."""
    if not ran_job(raw, FORM):
        return NOT_EXERCISED
    setting = Setting.model_validate(raw["setting"])
    found = sorted({tuple(rank["groups"][FORM]) for rank in raw["ranks"]})
    across = [group for group in found if _spans(setting, group)]
    if not across:
        raise FaultDidNotFire(f"tensor groups should span the slow tier, but are {found} on hosts {raw['placement']}")
    return {"groups": [list(group) for group in across]}


def _spans(setting: Setting, group: list[int] | tuple[int, ...]) -> bool:
    return len({leaf_of_host(setting.topology, setting.placement[rank]) for rank in group}) > 1


FAULT = FaultKind(
    id=ID,
    title="A tensor group across hosts",
    description="The mesh is laid out in the wrong order: tensor groups span the slow tier, data-parallel ones do not.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("placement-map",),
    spares=("per-rank-step-times", "link-rates[scope=all]"),
    trial=trial(Parallel(form="tensor", group=2), TWO_NODES),
)
