"""The job saves in every step around the plan's saves."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """There were more saves than the two of the plan, in steps that follow each other."""
    steps = [one["step"] for one in seen.living[0]["saves"]]
    require(len(steps) > 2 and steps == list(range(steps[0], steps[-1] + 1)), f"saves at steps {steps}")
    return {"saves": len(steps)}


FAULT = checkpoint_fault(
    id="saves-too-often",
    title="Saves in every step",
    description=("Someone shortened the interval between saves, and each still costs what a save costs."),
    knobs={"saves": "every-step"},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-contents", "resume-replay", "parameter-checksums"),
)
