"""The optimizer's state is not in the checkpoint: its moments start from nothing."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="optimizer-not-saved",
    title="Optimizer not saved",
    description=(
        "The checkpoint has parameters, schedule and positions, but no moments: after a restart the "
        "optimizer begins anew."
    ),
    knobs={"without": ("optimizer",)},
    proof=without("optimizer"),
    shows=("checkpoint-contents", "parameter-checksums", "resume-replay"),
    # The optimizer carries its rate along: without it the first step has the rate of a fresh start.
    spares=("checkpoint-manifest", "sample-order"),
)
