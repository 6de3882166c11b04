"""Rank 0 gathers the whole state and writes it alone, while all others wait."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Every byte was written by rank 0."""
    written = [rank["saves"][-1]["bytes"] for rank in seen.ranks]
    require(written[0] > 0 and not any(written[1:]), f"bytes written by rank: {written}")
    return {"bytes_of_rank_0": written[0], "bytes_of_others": sum(written[1:])}


FAULT = checkpoint_fault(
    id="gather-to-rank-0",
    title="Gathered to rank 0",
    description="The full state is brought together on rank 0, which writes it alone over its one link.",
    knobs={"saver": "gather"},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-manifest", "checkpoint-contents", "resume-replay", "parameter-checksums"),
)
