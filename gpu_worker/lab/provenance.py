"""What a run says about its own making, and whether the machine was left alone meanwhile."""

from __future__ import annotations

import functools
import importlib.metadata
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gpu_worker.errors import RunDisturbed
from gpu_worker.lab.machine import fingerprint

STEAL_LIMIT = 0.03
FOREIGN_LIMIT = 0.10
ACCEPT_DISTURBED = "RANK37_ACCEPT_DISTURBED"


@functools.cache
def torch_version() -> str:
    """Of the installed distribution; torch is not imported."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def provenance(
    raw: Mapping[str, Any], *, world_size: int, how: str, setup_s: float, wall_s: float, disturbed: bool
) -> dict[str, Any]:
    """The WholeRun's provenance, from the launcher's raw result. Nothing in it depends on a fault's parameters.

    `disturbed`: the run is kept although the machine was taken from it.
    """
    machine = fingerprint()
    return {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine["id"],
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        "kernel": machine["kernel"],
        "backend": "gloo",
        "torch": torch_version(),
        "world_size": world_size,
        "namespaces": how,
        **disturbance(raw),
        "accepted_disturbed": disturbed,
        "setup_s": round(setup_s, 3),
        "wall_s": round(wall_s, 3),
    }


def disturbance(raw: Mapping[str, Any]) -> dict[str, float]:
    """Shares of all processors' time in the measured parts: taken by the hypervisor, and by others' processes.

    What an act spends on purpose (a neighbour, background traffic) is its count `cpu_s`, and is ours.
    """
    phases = raw["phases"]
    all_s = max(sum(phase["processors"]["all_s"] for phase in phases), 1e-9)
    ranks_s = sum(rank["usage"]["process_cpu_s"] for phase in phases for rank in phase["ranks"] if "usage" in rank)
    acts_s = sum(act.get("cpu_s", 0.0) for phase in phases for act in phase["injected"])
    work_s = sum(phase["processors"]["work_s"] for phase in phases)
    return {
        "steal_share": round(sum(phase["processors"]["steal_s"] for phase in phases) / all_s, 4),
        "foreign_cpu_share": round(max(0.0, work_s - ranks_s - acts_s) / all_s, 4),
    }


def accepts_disturbed() -> bool:
    """Whether the environment says that a run is kept although every try was disturbed (recorded with the run)."""
    return os.environ.get(ACCEPT_DISTURBED, "") not in ("", "0")


def refuse_disturbed(shares: Mapping[str, float]) -> None:
    """Raises RunDisturbed where too much of the machine went elsewhere."""
    if shares["steal_share"] > STEAL_LIMIT:
        raise RunDisturbed(f"the hypervisor took {shares['steal_share']:.0%} of the processors during the run")
    if shares["foreign_cpu_share"] > FOREIGN_LIMIT:
        raise RunDisturbed(f"other processes took {shares['foreign_cpu_share']:.0%} of the processors during the run")
