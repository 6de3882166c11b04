"""One link of the fabric runs below its nominal rate, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.faults._links import cable_of, must_be_lower, rates_as_wanted, ways_of
from gpu_worker.faults.base import Changes, FaultKind, Params, params_of
from gpu_worker.specs import Fault, Setting

ID = "degraded-link"


class LinkParams(Params):
    rate: float = Field(
        default=160e6,
        ge=5e6,
        le=1e10,
        description="what the link still carries, each way; below its nominal rate",
        json_schema_extra={"unit": "bit/s", "kind": "rate"},
    )


def link_of(setting: Setting, fault: Fault) -> str:
    """The link's id; without a place the access link of rank 1's host. Raises BadSpec."""
    return cable_of(setting, fault).id


def plan(setting: Setting, fault: Fault) -> Changes:
    rate, cable = int(params_of(LinkParams, fault).rate), cable_of(setting, fault)
    must_be_lower(fault, cable, rate)
    link = link_of(setting, fault)
    return Changes(link_rates={link: rate}, must_cross=(link,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's buckets hold the lower rate after the run, in both directions."""
    cable = cable_of(Setting.model_validate(raw["setting"]), fault)
    return {"rates": rates_as_wanted(raw, ways_of(cable), params_of(LinkParams, fault).rate)}


FAULT = FaultKind(
    id=ID,
    title="A degraded link",
    description="Both token buckets of one cable are set below its nominal rate, as a port that trained down does.",
    place_kind="link",
    params=LinkParams,
    plan=plan,
    fired=fired,
    shows=(
        "microbenchmark[placement=as-job,size=job]",
        "microbenchmark-sweep",
        "pairwise-bandwidth[scope=disjoint-pairs]",
        "link-rates[scope=all]",
    ),
    spares=(
        "microbenchmark[placement=packed,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "link-error-counters",
        "collective-arrivals",
        "memory-by-rank",
        "host-swap",
    ),
)
