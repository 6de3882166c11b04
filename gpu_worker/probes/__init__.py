"""Every probe of the lab by id, found by looking: a module of this package that exposes `PROBE` is a probe."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gpu_worker.probes.base import Probe


def _discover() -> dict[str, Probe]:
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [module.PROBE for module in modules if hasattr(module, "PROBE")]
    return {probe.id: probe for probe in sorted(found, key=lambda probe: probe.id)}


PROBES: dict[str, Probe] = _discover()
