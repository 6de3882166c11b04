"""What the probes of checkpoints share: the runs they read, the newest generation, the restored job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.specs import WholeRun


def on_save(_with: Any) -> str:
    """The experiment of the probes that look at what lies in the storage."""
    return "save"


def on_replay(_with: Any) -> str:
    """The experiment of the probes that look at the job after its restart."""
    return "resume-replay"


def recorded(run: WholeRun, experiment: str) -> dict[str, Any]:
    """What the run kept; a ValueError where it is of another experiment."""
    if run.spec.experiment != experiment or not run.recorded:
        raise ValueError(f"run of {run.spec.key}: this probe reads a run of {experiment}")
    return run.recorded


def newest(generations: list[dict[str, Any]], *, marked: bool = False) -> dict[str, Any] | None:
    """The generation of the highest step; with `marked`, of those that have their commit mark."""
    found = [one for one in generations if one["marked"] or not marked]
    return max(found, key=lambda one: (one["step"], one["folder"]), default=None)


def at_saved_size(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The job that was restarted with as many ranks as had saved."""
    return next(one for one in kept["resumes"] if one["ranks"] == kept["ranks"])


def pairs(kept: Mapping[str, Any], resumed: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """(logged before the restart, after it) for each step that was run both times."""
    logged = {step["step"]: step for step in kept["steps"]}
    return [(logged[step["step"]], step) for step in resumed["steps"] if step["step"] in logged]


def documents(step: Mapping[str, Any]) -> list[int]:
    """The documents of a step over all ranks whose log there is, sorted."""
    return sorted(document for rank in step["documents"] if rank is not None for document in rank)
