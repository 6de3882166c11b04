"""What a stored run depends on, as one short name: its spec, and the source of the fault, experiment and job in it.

A run is taken again when one of these changed. Probes are no part of it: whole runs are kept, and a probe that changed
reads them anew.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from gpu_worker.experiments import experiment_of
from gpu_worker.faults import kind_of
from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import ExperimentSpec

# What a run's numbers come from. Plans, fabric and launcher carry them and are tested by themselves.
ROOMS = ("faults", "injectors", "experiments", "jobs", "ranks")
# They describe faults, acts and experiments; they measure nothing.
DESCRIBING = tuple(f"gpu_worker.{room}{end}" for room in ROOMS for end in ("", ".base"))


def digest(spec: ExperimentSpec) -> str:
    """16 hexadecimal digits. Raises BadSpec where the spec cannot be planned."""
    made = hashlib.sha256(spec.model_dump_json(by_alias=True).encode())
    for module in sorted(sources(spec)):
        made.update(module.encode() + b"\0" + _source_of(module))
    return made.hexdigest()[:16]


def sources(spec: ExperimentSpec) -> set[str]:
    """Names of the modules that the run's numbers come from."""
    plan = plan_run(spec)
    named = {kind_of(fault).plan.__module__ for fault in spec.faults}
    named |= {type(act).__module__ for act in plan.acts}
    named |= {experiment_of(spec.experiment).phases.__module__}
    named |= {phase.body.partition(":")[0] for phase in plan.phases}
    return closure(named)


def closure(modules: Iterable[str]) -> set[str]:
    """The modules and what they import, from the rooms that measure, over any number of steps."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imports(module)
    return found


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    tree = ast.parse(_source_of(module))
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return tuple(sorted(name for name in named if _measures(name)))


def _measures(name: str) -> bool:
    rooms = tuple(f"gpu_worker.{room}." for room in ROOMS)
    return name.startswith(rooms) and name not in DESCRIBING and _file_of(name) is not None


@functools.cache
def _source_of(module: str) -> bytes:
    file = _file_of(module)
    return file.read_bytes() if file else b""


@functools.cache
def _file_of(module: str) -> Path | None:
    """Where a module's source lies, without running it: what ranks do imports torch."""
    if module in sys.modules:
        origin = getattr(sys.modules[module], "__file__", None)
    else:
        try:
            found = find_spec(module)
        except ModuleNotFoundError:  # `from package.module import name`: a name is no module
            return None
        origin = found.origin if found else None
    return Path(origin) if origin else None
