"""Evidence 0 by kind: what a brief may be about. A module of this package that exposes `SYMPTOM` is found by itself."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gpu_worker.symptoms.base import SymptomKind


def _discover() -> dict[str, SymptomKind]:
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [module.SYMPTOM for module in modules if hasattr(module, "SYMPTOM")]
    return {symptom.id: symptom for symptom in sorted(found, key=lambda symptom: symptom.id)}


SYMPTOMS: dict[str, SymptomKind] = _discover()
