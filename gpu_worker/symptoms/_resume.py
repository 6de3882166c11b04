"""What the symptoms of a restart share: the restart that the brief is about, and the steps that it was to repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.probes import _checkpoint
from gpu_worker.specs import WholeRun


def kept_by(run: WholeRun) -> dict[str, Any]:
    return _checkpoint.recorded(run, "resume-replay")


def on_fewest_ranks(kept: Mapping[str, Any]) -> dict[str, Any]:
    return min(kept["resumes"], key=lambda one: one["ranks"])


def due_steps(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of the log behind the newest complete generation: what a restart from it should repeat."""
    newest = _checkpoint.newest(kept["generations"], marked=True)
    return [step for step in kept["steps"] if newest is not None and step["step"] > newest["step"]]


def again(resumed: Mapping[str, Any], logged: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same step after the restart; None where it was not run."""
    return next((step for step in resumed["steps"] if step["step"] == logged["step"]), None)
