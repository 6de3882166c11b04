"""Runs experiments: the one function through which the rest of Rank 37 uses the lab."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from gpu_worker.errors import RunDisturbed
from gpu_worker.lab.assemble import whole_run
from gpu_worker.lab.lock import machine_lock
from gpu_worker.lab.machine import wait_until_quiet
from gpu_worker.lab.plan import RunPlan, plan_run
from gpu_worker.lab.provenance import provenance, refuse_disturbed, tries_before_accepting
from gpu_worker.launcher.client import Launcher
from gpu_worker.specs import ExperimentSpec, WholeRun

Progress = Callable[[dict[str, Any]], None]
LOCK_LIMIT_S = 600.0
TRIES = 3
QUIET_LIMIT_S = 10.0

_warm: Launcher | None = None
_tally: Counter[str] = Counter()


def run_experiment(spec: ExperimentSpec, *, progress: Progress | None = None) -> WholeRun:
    """Builds the spec's fabric, breaks what its faults say, runs its experiment and returns what was measured.

    `progress` gets `{"done": int, "total": int, "phase": str}`. One experiment runs on a machine at a time; while
    another holds it, the phase is `waiting`. A run that the machine was taken from is repeated up to twice, once the
    machine is quiet (or as often as the environment wants, which then takes the last one as it is). Raises BadSpec,
    LabUnavailable, FaultDidNotFire, RunDisturbed or RunFailed.
    """
    plan, accepted = plan_run(spec), tries_before_accepting()
    last = accepted or TRIES
    with machine_lock(LOCK_LIMIT_S, waiting=lambda: _tell(progress, "waiting")):
        for _ in range(last - 1):
            try:
                return _run_once(plan, progress)
            except RunDisturbed:
                _tally["disturbed"] += 1
                wait_until_quiet(QUIET_LIMIT_S)
        return _run_once(plan, progress, accept_disturbed=accepted is not None)


def _tell(progress: Progress | None, phase: str) -> None:
    if progress:
        progress({"done": 0, "total": 1, "phase": phase})


def warm_up() -> None:
    """Starts this process's launcher, so that the first experiment does not wait for it. Raises LabUnavailable."""
    _launcher()


def launcher_pid() -> int:
    """Of this process's warm launcher, which is started where there is none. Raises LabUnavailable."""
    return _launcher().pid


def tally() -> dict[str, int]:
    """Of this process so far: runs `taken`, and those of them that were `disturbed` and thrown away for another."""
    return {name: _tally[name] for name in ("taken", "disturbed")}


def close() -> None:
    """Ends this process's launcher; the next experiment starts another."""
    global _warm
    if _warm is not None:
        _warm.close()
    _warm = None


def _launcher() -> Launcher:
    global _warm
    if _warm is None or not _warm.usable:
        _warm = Launcher()
    return _warm


def _run_once(plan: RunPlan, progress: Progress | None, *, accept_disturbed: bool = False) -> WholeRun:
    launcher, begun = _launcher(), time.monotonic()
    _tally["taken"] += 1
    raw = launcher.run(plan.to_order(), progress)
    wall_s = time.monotonic() - begun
    disturbed = _is_disturbed(raw, accept_disturbed)
    facts = provenance(
        raw,
        world_size=len(plan.placement),
        how=launcher.how,
        setup_s=raw["fabric_s"] + raw["launch_s"],
        wall_s=wall_s,
        disturbed=disturbed,
    )
    return whole_run(plan, raw, facts)


def _is_disturbed(raw: dict[str, Any], accept: bool) -> bool:
    try:
        refuse_disturbed(raw)
    except RunDisturbed:
        if not accept:
            raise
        return True
    return False
