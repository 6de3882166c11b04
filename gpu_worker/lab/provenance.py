"""What a run says about its own making, and whether the machine was left alone meanwhile."""

from __future__ import annotations

import functools
import importlib.metadata
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gpu_worker.errors import BadSpec, RunDisturbed
from gpu_worker.lab.machine import fingerprint

STEAL_LIMIT = 0.03
FOREIGN_LIMIT = 0.10
# A run that waits for its links leaves most of the processors idle: what others took there, it did not miss.
IDLE_ENOUGH = 0.5
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


def tries_before_accepting() -> int | None:
    """After how many tries, all of them disturbed, the environment wants the last one kept; None: none ever is.

    Raises BadSpec where it says no number.
    """
    said = os.environ.get(ACCEPT_DISTURBED) or "0"
    if not said.isdecimal():
        raise BadSpec(f"{ACCEPT_DISTURBED}={said!r} is no number of tries")
    return int(said) or None


def refuse_disturbed(raw: Mapping[str, Any]) -> None:
    """Raises RunDisturbed where too much of the machine went elsewhere: taken by the hypervisor, or by processes that
    the ranks had to compete with."""
    shares = disturbance(raw)
    if shares["steal_share"] > STEAL_LIMIT:
        raise RunDisturbed(f"the hypervisor took {shares['steal_share']:.0%} of the processors during the run")
    if shares["foreign_cpu_share"] > FOREIGN_LIMIT and idle_share(raw) < IDLE_ENOUGH:
        raise RunDisturbed(f"other processes took {shares['foreign_cpu_share']:.0%} of the processors during the run")


def idle_share(raw: Mapping[str, Any]) -> float:
    """Of all processors' time in the measured parts. Kept out of the provenance: it depends on the fault."""
    times = [phase["processors"] for phase in raw["phases"]]
    return sum(time["idle_s"] for time in times) / max(sum(time["all_s"] for time in times), 1e-9)
