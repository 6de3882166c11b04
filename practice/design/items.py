"""What can be started: every item of every kind. No database."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from practice.design import kinds
from practice.design.base import Item, Kind, Posed


@cache
def every_kind() -> tuple[Kind, ...]:
    """The kinds in their place."""
    found = [import_module(f"{kinds.__name__}.{one.name}").KIND for one in pkgutil.iter_modules(kinds.__path__)]
    return tuple(sorted(found, key=lambda kind: kind.place))


@cache
def every() -> dict[str, tuple[Kind, Item]]:
    """Every item by its id, with its kind."""
    return {item.id: (kind, item) for kind in every_kind() for item in kind.items()}


def pose(id: str, seed: int) -> Posed | None:
    """The item with the seed; None where a release has taken it away."""
    found = every().get(id)
    if found is None:
        return None
    kind, item = found
    task, fingerprint = kind.pose(item, seed)
    return Posed(item, kind, task, fingerprint)
