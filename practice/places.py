"""Where a fault may be: every rank, host and link of an incident's fabric, whatever the cause."""

from __future__ import annotations

import random
from dataclasses import dataclass

from gpu_worker.fabric.plan import plan_fabric
from scenarios.draws import draw_topology
from scenarios.format import Scenario


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


def groups(scenario: Scenario) -> tuple[PlaceGroup, ...]:
    """All places of the incident's setting in a fixed order: ranks, hosts, links. Only rates of it are ever drawn."""
    plan = plan_fabric(draw_topology(scenario.setting, random.Random(0)))
    names = {
        "rank": [str(rank) for rank in range(sum(map(len, scenario.setting.hosts)))],
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


def known(scenario: Scenario) -> frozenset[str]:
    """Every place id that a form may send."""
    return frozenset(place.id for group in groups(scenario) for place in group.places)
