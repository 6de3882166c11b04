"""What a stored run depends on, as one short name: its spec, and the source of the fault, experiment and job in it.

A run is taken again when one of these changed. Probes are no part of it: whole runs are kept, and a probe that changed
reads them anew. Only where a run is gone and its readings are left does the source of the probe count.
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
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec

# What a run's numbers come from. Plans, fabric and launcher carry them and are tested by themselves.
ROOMS = ("faults", "injectors", "experiments", "jobs", "ranks")
# What a reading comes from, once its run is there.
READING = ("probes",)


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


@functools.cache
def probe_digest(step: str) -> str:
    """16 hexadecimal digits of what turns a whole run into the readings of a step."""
    made = hashlib.sha256()
    for module in sorted(closure([PROBES[step].read.__module__], READING)):
        made.update(module.encode() + b"\0" + _source_of(module))
    return made.hexdigest()[:16]


def closure(modules: Iterable[str], rooms: tuple[str, ...] = ROOMS) -> set[str]:
    """The modules and what they import from these rooms, over any number of steps."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imports(module, rooms)
    return found


@functools.cache
def _imports(module: str, rooms: tuple[str, ...]) -> tuple[str, ...]:
    tree = ast.parse(_source_of(module))
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return tuple(sorted(name for name in named if _is_of(name, rooms)))


def _is_of(name: str, rooms: tuple[str, ...]) -> bool:
    """Whether it is a module of one of the rooms. What describes a room's parts (`base`) measures nothing."""
    inside = [f"gpu_worker.{room}" for room in rooms]
    describes = name in inside or name in [f"{room}.base" for room in inside]
    return name.startswith(tuple(f"{room}." for room in inside)) and not describes and _file_of(name) is not None


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
