"""The schedule moves twice in each step of the optimizer, as where loop and framework both step it."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """In every checkpoint the schedule stands at twice the step counter."""
    places = [(g["positions"]["scheduler.last_epoch"], g["positions"]["trainer.step"]) for g in seen.generations]
    require(all(position == 2 * step for position, step in places), f"schedule and step counter stand at {places}")
    return {"schedule": places[-1][0], "steps": places[-1][1]}


FAULT = checkpoint_fault(
    id="scheduler-stepped-twice",
    title="Schedule stepped twice",
    description="Loop and framework both move the learning-rate schedule, which runs through in half the steps.",
    knobs={"scheduler_steps": "twice"},
    proof=proof,
    shows=("schedule-position",),
    spares=("checkpoint-manifest", "sample-order", "parameter-checksums", "resume-replay"),
)
