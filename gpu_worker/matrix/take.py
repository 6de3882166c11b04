"""Takes the runs that the matrix still lacks. What is stored is not taken again."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

from gpu_worker.errors import FaultDidNotFire, LabError, RunDisturbed, RunFailed
from gpu_worker.matrix.digest import digest
from gpu_worker.matrix.store import Store
from gpu_worker.specs import ExperimentSpec, WholeRun


@dataclass(frozen=True)
class Told:
    """After each run that had to be taken: how many of how many, which, and why it gave nothing, if it did not."""

    done: int
    total: int
    spec: ExperimentSpec
    why: str = ""


def take_missing(
    wanted: Iterable[ExperimentSpec],
    store: Store,
    experiment: Callable[[ExperimentSpec], WholeRun],
    tell: Callable[[Told], None] = lambda _: None,
    known: Container[str] = (),
) -> list[Told]:
    """Runs what is neither stored nor known; returns what could not be had: those are tried again by the next call.

    A fault that did not fire and a run that failed are results and are kept; a disturbed run says nothing.
    """
    named = {digest(spec): spec for spec in wanted}
    missing = [(name, spec) for name, spec in named.items() if not (store.has(name) or name in known)]
    not_had = []
    for done, (name, spec) in enumerate(missing, 1):
        why = _take(name, spec, store, experiment)
        told = Told(done, len(missing), spec, why)
        tell(told)
        if why and not store.has(name):
            not_had.append(told)
    return not_had


def _take(name: str, spec: ExperimentSpec, store: Store, experiment: Callable[[ExperimentSpec], WholeRun]) -> str:
    try:
        store.keep(name, experiment(spec))
    except (FaultDidNotFire, RunFailed) as problem:
        store.keep_failure(name, problem)
        return problem.reason
    except RunDisturbed as problem:
        return problem.reason
    except LabError:  # no lab here: every other run would fail alike
        raise
    return ""
