"""Two hosts of the job have slow links at once, so that no single host explains what is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec
from gpu_worker.fabric.plan import Cable
from gpu_worker.faults._links import access_cable, must_be_lower, rates_as_wanted, ways_of
from gpu_worker.faults.base import Changes, FaultKind, Params, Trial, params_of, rank_of
from gpu_worker.specs import Fault, Setting

ID = "two-slow-hosts"


class TwoParams(Params):
    rate: float = Field(
        default=220e6,
        ge=5e6,
        le=1e10,
        description="what the link of either host still carries, each way; below its nominal rate",
        json_schema_extra={"unit": "bit/s", "kind": "rate"},
    )
    apart: int = Field(
        default=2,
        ge=1,
        le=15,
        description="the other slow host is that of so many ranks further on",
        json_schema_extra={"unit": "ranks", "kind": "count"},
    )


def both(setting: Setting, fault: Fault) -> tuple[Cable, Cable]:
    """The access cables of the two hosts. Raises BadSpec where they are one and the same."""
    rank, apart = rank_of(setting, fault), params_of(TwoParams, fault).apart
    if apart % len(setting.placement) == 0:
        raise BadSpec(f"fault {ID}: apart is {apart}, but with {len(setting.placement)} ranks that is the same host")
    hosts = setting.placement[rank], setting.placement[(rank + apart) % len(setting.placement)]
    return access_cable(setting, hosts[0]), access_cable(setting, hosts[1])


def plan(setting: Setting, fault: Fault) -> Changes:
    rate, cables = params_of(TwoParams, fault).rate, both(setting, fault)
    for cable in cables:
        must_be_lower(fault, cable, rate)
    ids = tuple(cable.id for cable in cables)
    return Changes(link_rates=dict.fromkeys(ids, int(rate)), must_cross=ids)


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's buckets hold the lower rate on both links, in both directions."""
    cables = both(Setting.model_validate(raw["setting"]), fault)
    ways = [way for cable in cables for way in ways_of(cable)]
    return {"rates": rates_as_wanted(raw, ways, params_of(TwoParams, fault).rate)}


FAULT = FaultKind(
    id=ID,
    title="Two slow hosts at once",
    description="The access links of two hosts of the job are set below their nominal rate, both ways.",
    place_kind="rank",
    params=TwoParams,
    plan=plan,
    fired=fired,
    shows=(
        "link-rates[scope=suspects]",
        "microbenchmark[placement=as-job,size=job]",
        "pairwise-bandwidth[scope=disjoint-pairs]",
    ),
    spares=(
        "per-rank-step-times",
        "host-telemetry",
        "link-error-counters",
        "microbenchmark[placement=packed,size=job]",
    ),
    trial=Trial(place="rank:1"),
)
