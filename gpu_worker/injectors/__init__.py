"""Everything the lab can do to a run, one module a kind: a module that exposes `INJECTOR` is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from gpu_worker.injectors.base import Act, Injector


def _discover() -> dict[str, Injector]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [module.INJECTOR for module in modules if hasattr(module, "INJECTOR")]
    return {injector.act.model_fields["kind"].default: injector for injector in found}


INJECTORS: dict[str, Injector] = _discover()


def act_from(data: Mapping[str, Any]) -> Act:
    """An act back from its JSON form, as it travels to the launcher."""
    return INJECTORS[data["kind"]].act.model_validate(data)
