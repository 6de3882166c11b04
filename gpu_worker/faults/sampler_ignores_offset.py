"""The count of consumed samples is restored, and the sampler starts from the beginning (Megatron-Bridge#3503)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Right after the restore every stream stands at its beginning, though the checkpoint says otherwise."""
    saved = [at for key, at in seen.newest["positions"].items() if key.endswith(".consumed")]
    at = [rank["at"] for rank in seen.resumed if rank["restored"]]
    require(bool(at) and all(not any(one["consumed"]) for one in at) and all(saved), f"streams stand at {at}")
    return {"saved": saved[0], "consumed": 0}


FAULT = checkpoint_fault(
    id="sampler-ignores-offset",
    title="Sampler ignores the offset",
    description="The checkpoint holds the right count, and the sampler does not use it: the data start over.",
    knobs={"sampler_offset": "ignored"},
    proof=proof,
    experiments=RESUMING,
    shows=("sample-order", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "parameter-checksums"),
)
