"""Every quantity that people may ask for, by id, found by looking: a `Quantity` that a module here defines is one."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from grader.quantities.base import Quantity


def _discover() -> dict[str, Quantity]:
    modules = [import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Quantity)]
    return {quantity.id: quantity for quantity in found}


# In the order of files, and of definition in a file, so that quantities about one idea stay together.
QUANTITIES: dict[str, Quantity] = _discover()
