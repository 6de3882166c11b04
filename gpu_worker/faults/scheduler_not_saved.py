"""The schedule's position is not in the checkpoint: the learning rate starts over (torchtitan#275)."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="scheduler-not-saved",
    title="Scheduler not saved",
    description="The checkpoint lacks the schedule's position, so that after a restart the warm-up begins again.",
    knobs={"without": ("scheduler",)},
    proof=without("scheduler"),
    shows=("checkpoint-contents", "schedule-position", "resume-replay"),
    spares=("checkpoint-manifest", "sample-order", "parameter-checksums"),
)
