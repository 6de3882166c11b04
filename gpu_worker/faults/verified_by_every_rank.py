"""Every rank reads the whole generation back before training goes on."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Each rank read at least as much as all of them had written."""
    saves = [rank["saves"][-1] for rank in seen.living]
    written, read = sum(one["bytes"] for one in saves), [one["read_bytes"] for one in saves]
    require(min(read) >= written > 0, f"written {written} bytes, read back by rank {read}")
    return {"written": written, "read_by_each": min(read)}


FAULT = checkpoint_fault(
    id="verified-by-every-rank",
    title="Verified by every rank",
    description=(
        "After each save all ranks read all files back to check them, and training waits for the last of them."
    ),
    knobs={"verifies": True},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-manifest", "checkpoint-contents", "resume-replay", "parameter-checksums"),
)
