"""The positions in the data are not in the checkpoint: the data start over."""

from __future__ import annotations

from gpu_worker.faults._checkpoint import checkpoint_fault, without

FAULT = checkpoint_fault(
    id="sampler-not-saved",
    title="Sampler position not saved",
    description="The checkpoint does not say which samples were read, so that after a restart the data begin again.",
    knobs={"without": ("sampler",)},
    proof=without("sampler"),
    shows=("checkpoint-contents", "sample-order", "resume-replay"),
    spares=("checkpoint-manifest", "schedule-position", "parameter-checksums"),
)
