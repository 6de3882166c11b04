"""Runs experiments: the one function through which the rest of Rank 37 uses the lab."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpu_worker.errors import RunDisturbed
from gpu_worker.lab.assemble import whole_run
from gpu_worker.lab.lock import machine_lock
from gpu_worker.lab.machine import wait_until_quiet
from gpu_worker.lab.plan import RunPlan, plan_run
from gpu_worker.lab.provenance import accepts_disturbed, disturbance, provenance, refuse_disturbed
from gpu_worker.launcher.client import Launcher
from gpu_worker.specs import ExperimentSpec, WholeRun

Progress = Callable[[dict[str, Any]], None]
LOCK_LIMIT_S = 600.0
TRIES = 3
QUIET_LIMIT_S = 10.0

_warm: Launcher | None = None


def run_experiment(spec: ExperimentSpec, *, progress: Progress | None = None) -> WholeRun:
    """Builds the spec's fabric, breaks what its faults say, runs its experiment and returns what was measured.

    `progress` gets `{"done": int, "total": int, "phase": str}`. One experiment runs on a machine at a time. A run
    that the machine was taken from is repeated up to twice, once the machine is quiet. Raises BadSpec,
    LabUnavailable, FaultDidNotFire, RunDisturbed or RunFailed.
    """
    plan = plan_run(spec)
    with machine_lock(LOCK_LIMIT_S):
        for _ in range(TRIES - 1):
            try:
                return _run_once(plan, progress)
            except RunDisturbed:
                wait_until_quiet(QUIET_LIMIT_S)
        return _run_once(plan, progress, accept_disturbed=accepts_disturbed())


def warm_up() -> None:
    """Starts this process's launcher, so that the first experiment does not wait for it. Raises LabUnavailable."""
    _launcher()


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
        refuse_disturbed(disturbance(raw))
    except RunDisturbed:
        if not accept:
            raise
        return True
    return False
