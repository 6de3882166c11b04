"""The criteria, found by looking: a module here that exposes `CRITERION` is one. Each is small and pure."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from grader.criteria.base import Criterion


def _discover() -> dict[str, Criterion]:
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found: list[Criterion] = [module.CRITERION for module in modules if hasattr(module, "CRITERION")]
    return {one.id: one for one in sorted(found, key=lambda one: one.id)}


CRITERIA: dict[str, Criterion] = _discover()
