"""One rank's file in the newest generation ends in the middle."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The file is shorter than the commit mark says, and not empty."""
    file = seen.file(seen.rank)
    require(0 < file["bytes"] < file["expected"], f"{file['name']} has {file['bytes']} of {file['expected']} bytes")
    return {"bytes": file["bytes"], "expected": file["expected"]}


FAULT = checkpoint_fault(
    id="torn-shard",
    title="A torn shard",
    description="The last part of one rank's file never reached the disk; the commit mark was written all the same.",
    knobs={"damage": "torn"},
    proof=proof,
    ranked="damaged_rank",
    shows=("checkpoint-manifest", "checkpoint-contents", "resume-replay"),
    spares=("save-timings",),
)
