"""What faults of links share: which cable a place names, and whether the kernel's buckets hold a rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.plan import Cable, direction, plan_fabric
from gpu_worker.specs import Fault, Setting

TOLERANCE = 0.01
# Steps that a fault of a cable's traffic leaves healthy; faults that show in the counters leave those out.
SPARED = (
    "per-rank-step-times",
    "host-telemetry",
    "link-rates[scope=all]",
    "placement-map",
    "microbenchmark[placement=packed,size=job]",
)


def cable_of(setting: Setting, fault: Fault) -> Cable:
    """The cable of the place; without one the access link of rank 1's host. Raises BadSpec."""
    if fault.place is None:
        return access_cable(setting, setting.placement[min(1, len(setting.placement) - 1)])
    kind, _, name = fault.place.partition(":")
    if kind != "link":
        raise BadSpec(f"fault {fault.cause} needs a place such as link:host1-leaf0, not {fault.place!r}")
    return plan_fabric(setting.topology).cable(name)


def access_cable(setting: Setting, host: int) -> Cable:
    """The cable that joins a host to the fabric."""
    cables = plan_fabric(setting.topology).cables
    return next(c for c in cables if c.kind == "access" and c.a.node == f"host{host}")


def uplink_of(setting: Setting, fault: Fault) -> Cable:
    """The uplink of the place; without one the first of rank 0's leaf or node. Raises BadSpec where it is none."""
    if fault.place is not None:
        cable = cable_of(setting, fault)
    else:
        switch = access_cable(setting, setting.placement[0]).b.node
        uplinks = [c for c in plan_fabric(setting.topology).cables if c.kind == "uplink" and c.a.node == switch]
        if not uplinks:
            raise BadSpec(f"fault {fault.cause} needs uplinks: a leaf-spine or two-tier fabric")
        cable = uplinks[0]
    if cable.kind != "uplink":
        raise BadSpec(
            f"fault {fault.cause} needs a place between two switches, such as link:leaf0-spine1, not {cable.id}"
        )
    return cable


def ways_of(cable: Cable) -> tuple[str, str]:
    """Both directions of a cable: away from its first end, and towards it."""
    return direction(cable.a, cable.b), direction(cable.b, cable.a)


def must_be_lower(fault: Fault, cable: Cable, rate: float) -> None:
    """Raises BadSpec where a rate would not degrade the cable."""
    if rate >= cable.nominal:
        raise BadSpec(
            f"fault {fault.cause}: rate is {rate:.0f} bit/s, but must be below the {cable.nominal} bit/s that "
            f"{cable.id} has"
        )


def rates_as_wanted(raw: Mapping[str, Any], ways: Iterable[str], wanted: float) -> dict[str, int]:
    """The rates of these directions as read back from the kernel. Raises FaultDidNotFire where one is another."""
    rates = {way: raw["rates"][way] for way in ways}
    if any(abs(rate - wanted) > TOLERANCE * wanted for rate in rates.values()):
        raise FaultDidNotFire(f"{', '.join(rates)} should run at {wanted:.0f} bit/s, but the kernel says {rates}")
    return rates


def spare_hosts(setting: Setting, fault: Fault, uplink: Cable) -> tuple[int, int]:
    """(below the uplink, elsewhere): hosts without a rank that can send to each other over it. Raises BadSpec."""
    plan = plan_fabric(setting.topology)
    free = [host for host in range(plan.hosts) if host not in setting.placement]
    below = {host for host in free if access_cable(setting, host).b.node == uplink.a.node}
    across = {c.a.node: c.nominal for c in plan.cables if c.kind == "uplink" and c.b.node == uplink.b.node}
    # By the fastest way back up: a slow one elsewhere would hold the traffic below what is wanted here.
    elsewhere = sorted(set(free) - below, key=lambda host: (-across[access_cable(setting, host).b.node], host))
    if not below or not elsewhere:
        raise BadSpec(
            f"fault {fault.cause} needs a host without a rank below {uplink.id} and another elsewhere: leave some "
            "free, such as three hosts a leaf of which two have ranks"
        )
    return min(below), elsewhere[0]
