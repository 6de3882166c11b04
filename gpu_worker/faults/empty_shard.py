"""One rank's file in the newest generation is there and has no bytes (xla#7919)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The file has no bytes, and the commit mark says that it should."""
    file = seen.file(seen.rank)
    require(file["bytes"] == 0 and file["expected"] > 0, f"{file['name']} has {file['bytes']} bytes")
    return {"bytes": 0, "expected": file["expected"]}


FAULT = checkpoint_fault(
    id="empty-shard",
    title="An empty shard",
    description="One rank's file was made and never filled; the commit mark was written all the same.",
    knobs={"damage": "empty"},
    proof=proof,
    ranked="damaged_rank",
    shows=("checkpoint-manifest", "checkpoint-contents", "resume-replay"),
    spares=("save-timings",),
)
