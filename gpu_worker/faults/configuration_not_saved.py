"""Configuration and versions are not in the checkpoint: nobody can tell what it belongs to."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="configuration-not-saved",
    title="Configuration not saved",
    description=(
        "The checkpoint restores bit by bit, but neither code revision nor versions nor configuration "
        "are recorded in it."
    ),
    knobs={"without": ("configuration",)},
    proof=without("configuration"),
    shows=("checkpoint-contents",),
    spares=("checkpoint-manifest", "schedule-position", "sample-order", "parameter-checksums", "resume-replay"),
)
