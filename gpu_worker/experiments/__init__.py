"""The experiments of the lab, one module each: a module that exposes `EXPERIMENT` is found by itself."""

from __future__ import annotations

import importlib
import pkgutil

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Experiment


def _discover() -> dict[str, Experiment]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    return {experiment.id: experiment for experiment in sorted(found, key=lambda one: one.id)}


EXPERIMENTS: dict[str, Experiment] = _discover()


def experiment_of(key: str) -> Experiment:
    """The experiment of a key such as `job` or `microbenchmark[placement=as-job,size=job]`. Raises BadSpec."""
    name = key.partition("[")[0]
    if name not in EXPERIMENTS:
        raise BadSpec(f"there is no experiment {name!r}; the lab has {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def nominal_s(key: str) -> float:
    """Nominal wall time of an experiment, the same whatever the cause: waits shown to a candidate are padded to it."""
    return experiment_of(key).nominal_s
