"""One link of the fabric runs below its nominal rate, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import plan_fabric
from gpu_worker.faults.base import Changes, FaultKind, Params, params_of
from gpu_worker.specs import Fault, Setting

ID = "degraded-link"
TOLERANCE = 0.01


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
    plan = plan_fabric(setting.topology)
    if fault.place is None:
        host = setting.placement[min(1, len(setting.placement) - 1)]
        return next(c.id for c in plan.cables if c.kind == "access" and c.a.node == f"host{host}")
    kind, _, name = fault.place.partition(":")
    if kind != "link":
        raise BadSpec(f"fault {ID} needs a place such as link:host1-leaf0, not {fault.place!r}")
    return plan.cable(name).id


def plan(setting: Setting, fault: Fault) -> Changes:
    rate, link = int(params_of(LinkParams, fault).rate), link_of(setting, fault)
    nominal = plan_fabric(setting.topology).cable(link).nominal
    if rate >= nominal:
        raise BadSpec(f"fault {ID}: rate is {rate} bit/s, but must be below the {nominal} bit/s that {link} has")
    return Changes(link_rates={link: rate}, must_cross=(link,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's buckets hold the lower rate after the run, in both directions."""
    link = link_of(Setting.model_validate(raw["setting"]), fault)
    wanted = params_of(LinkParams, fault).rate
    a, b = link.split("-")
    rates = {name: raw["rates"][name] for name in (f"{a}->{b}", f"{b}->{a}")}
    if any(abs(rate - wanted) > TOLERANCE * wanted for rate in rates.values()):
        raise FaultDidNotFire(f"{link} should run at {wanted:.0f} bit/s, but the kernel says {rates}")
    return {"rates": rates}


FAULT = FaultKind(
    id=ID,
    title="A degraded link",
    description="Both token buckets of one cable are set below its nominal rate, as a port that trained down does.",
    place_kind="link",
    params=LinkParams,
    plan=plan,
    fired=fired,
    shows=("microbenchmark[placement=as-job,size=job]", "link-rates[scope=all]"),
    spares=(
        "microbenchmark[placement=packed,size=job]",
        "per-rank-step-times",
        "host-telemetry",
        "input-timings",
        "collective-arrivals",
    ),
)
