"""The random states are not in the checkpoint: the same samples are cut and noised otherwise."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="random-state-not-saved",
    title="Random state not saved",
    description=(
        "The same samples come after a restart, but windows, noise and whatever else is drawn at random do not."
    ),
    knobs={"without": ("rng",)},
    proof=without("rng"),
    shows=("checkpoint-contents", "resume-replay"),
    spares=("checkpoint-manifest", "schedule-position", "sample-order", "parameter-checksums"),
)
