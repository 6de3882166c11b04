"""One rank is killed in the middle of its file: the newest generation is never finished."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The rank died, and its file holds a part of what it held the time before, in a generation without a mark."""
    died = [number for number, rank in enumerate(seen.ranks) if "died" in rank]
    sizes = [
        next((file["bytes"] for file in generation["files"] if file["name"] == f"__{seen.rank}_0.distcp"), 0)
        for generation in seen.generations[-2:]
    ]
    require(died == [seen.rank], f"ranks that died: {died}")
    require(not seen.newest["marked"] and 0 < sizes[1] < sizes[0], f"its files have {sizes} bytes")
    return {"died": died, "bytes": sizes[1], "of": sizes[0]}


FAULT = checkpoint_fault(
    id="killed-while-saving",
    title="Killed while saving",
    description="A rank is killed halfway through writing its part of a checkpoint, and the job dies with it.",
    knobs={},
    proof=proof,
    ranked="killed_rank",
    shows=("checkpoint-manifest", "save-timings"),
    spares=("checkpoint-contents", "resume-replay", "parameter-checksums"),
)
