"""One rank's file is missing from the newest generation."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The commit mark names a file that is not there."""
    file = seen.file(seen.rank)
    require(file["bytes"] is None, f"{file['name']} is there, with {file['bytes']} bytes")
    return {"missing": file["name"], "expected": file["expected"]}


FAULT = checkpoint_fault(
    id="missing-shard",
    title="A missing shard",
    description="One rank's file is not where the commit mark says; it was cleaned away, or never came.",
    knobs={"damage": "missing"},
    proof=proof,
    ranked="damaged_rank",
    shows=("checkpoint-manifest", "checkpoint-contents", "resume-replay"),
    spares=("save-timings",),
)
