"""Where a fault may be: every rank, host and link of the lab, whatever the cause."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_worker.fabric.plan import plan_fabric
from gpu_worker.specs import Setting


@dataclass(frozen=True)
class Place:
    id: str
    label: str


@dataclass(frozen=True)
class PlaceGroup:
    kind: str
    title: str
    places: tuple[Place, ...]


TITLES = {"rank": "Ranks", "host": "Hosts", "link": "Links"}


def groups() -> tuple[PlaceGroup, ...]:
    """All places of the lab's setting in a fixed order: ranks, hosts, links."""
    setting = Setting()
    plan = plan_fabric(setting.topology)
    names = {
        "rank": [str(rank) for rank in range(len(setting.placement))],
        "host": [str(host) for host in range(plan.hosts)],
        "link": [cable.id for cable in plan.cables],
    }
    return tuple(
        PlaceGroup(kind, TITLES[kind], tuple(Place(f"{kind}:{name}", label(kind, name)) for name in listed))
        for kind, listed in names.items()
    )


def label(kind: str, name: str) -> str:
    """`rank 2`, `host 3`, `host3–leaf1`: a place as people say it."""
    return name.replace("-", "–") if kind == "link" else f"{kind} {name}"


def say(place: str | None) -> str:
    """A place id as people say it; "" for none."""
    kind, _, name = (place or "").partition(":")
    return label(kind, name) if name else ""


def known() -> frozenset[str]:
    """Every place id that a form may send."""
    return frozenset(place.id for group in groups() for place in group.places)
