"""The generation to restore is the last of a sorted list of names, and step-8 sorts behind step-10."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """A complete generation was there that is newer than the restored one."""
    newest = max(generation["step"] for generation in seen.generations if generation["marked"])
    restored = [rank["at"]["step"] for rank in seen.resumed if rank["restored"]]
    require(bool(restored) and max(restored) < newest, f"restored step {restored}, newest complete {newest}")
    return {"restored": restored[0], "newest_complete": newest}


FAULT = checkpoint_fault(
    id="picked-by-glob",
    title="Picked by glob",
    description="Names are sorted as text to find the newest generation, and an older one is restored without a word.",
    knobs={"picks": "last-name"},
    proof=proof,
    experiments=RESUMING,
    shows=("schedule-position",),
    spares=("checkpoint-manifest", "checkpoint-contents", "parameter-checksums", "resume-replay"),
)
