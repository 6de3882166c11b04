"""The schedule moves once a rank in each step, so that its speed depends on the world size."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """In every checkpoint the schedule stands at the step counter times the number of ranks."""
    ranks = len(seen.ranks)
    places = [(g["positions"]["scheduler.last_epoch"], g["positions"]["trainer.step"]) for g in seen.generations]
    require(all(position == ranks * step for position, step in places), f"schedule and step counter stand at {places}")
    return {"schedule": places[-1][0], "steps": places[-1][1], "ranks": ranks}


FAULT = checkpoint_fault(
    id="scheduler-stepped-per-rank",
    title="Schedule stepped once a rank",
    description="A wrapper moves the learning-rate schedule by the number of ranks in each step.",
    knobs={"scheduler_steps": "once-a-rank"},
    proof=proof,
    shows=("schedule-position", "resume-replay"),
    spares=("checkpoint-manifest", "sample-order", "parameter-checksums"),
)
