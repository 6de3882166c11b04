"""Every rank names the finished generation, and all but the first find nothing to rename (transformers#27925)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """All ranks but one met a file that was not found."""
    errors = [rank["saves"][-1]["error"] or "" for rank in seen.ranks]
    lost = sum("FileNotFoundError" in error for error in errors)
    require(lost == len(seen.ranks) - 1, f"errors of the ranks: {errors}")
    return {"ranks_that_failed": lost, "ranks": len(seen.ranks)}


FAULT = checkpoint_fault(
    id="every-rank-renames",
    title="Every rank renames",
    description=(
        "All ranks rename the staging folder once the save is done; one of them is first, and the others die of it."
    ),
    knobs={"renames": "every-rank"},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-manifest", "checkpoint-contents"),
)
