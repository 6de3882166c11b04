"""The faults that the lab can inject, one module each: a module that exposes `FAULT` is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from gpu_worker.errors import BadSpec
from gpu_worker.faults.base import FaultKind
from gpu_worker.specs import Fault


def _discover() -> dict[str, FaultKind]:
    found: dict[str, FaultKind] = {}
    for info in pkgutil.iter_modules(__path__):
        kind = getattr(importlib.import_module(f"{__name__}.{info.name}"), "FAULT", None)
        if isinstance(kind, FaultKind):
            found[kind.id] = kind
    return dict(sorted(found.items()))


FAULTS: dict[str, FaultKind] = _discover()


def kind_of(fault: Fault) -> FaultKind:
    """The kind of a spec's fault. Raises BadSpec that names the faults there are."""
    if fault.cause not in FAULTS:
        raise BadSpec(f"there is no fault {fault.cause!r}; the lab has {', '.join(FAULTS)}")
    return FAULTS[fault.cause]


def describe(kind: FaultKind) -> dict[str, Any]:
    """JSON-ready: id, title, description, place, and each parameter's bounds, default and unit."""
    properties = kind.params.model_json_schema().get("properties", {})
    return {
        "id": kind.id,
        "title": kind.title,
        "description": kind.description,
        "place": kind.place_kind,
        "params": {
            name: {key: schema.get(key) for key in ("minimum", "maximum", "default", "unit", "kind", "description")}
            for name, schema in properties.items()
        },
    }
