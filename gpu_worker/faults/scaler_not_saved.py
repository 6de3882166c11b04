"""The loss scale is not in the checkpoint: the scaler searches it again and misses steps meanwhile."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="scaler-not-saved",
    title="Loss scaler not saved",
    description=(
        "After a restart the scaler begins at its first scale, overflows, and the optimizer misses steps it had made."
    ),
    knobs={"without": ("scaler",)},
    proof=without("scaler"),
    shows=("checkpoint-contents", "resume-replay"),
    spares=("checkpoint-manifest", "schedule-position", "sample-order", "parameter-checksums"),
)
