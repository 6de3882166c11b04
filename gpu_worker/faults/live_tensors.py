"""A background save writes the live tensors, which training meanwhile changes (pytorch#144657)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """What the files hold is not what the job held when it saved."""
    at = next(rank for rank in seen.resumed if rank["restored"])
    logged = {(s["kind"], s["name"], s["part"]): s["sum"] for s in seen.living[0]["checksums"][str(at["at"]["step"])]}
    later = sum(one["sum"] != logged[one["kind"], one["name"], one["part"]] for one in at["checksums"])
    require(later > 0, "every tensor was written before training changed it")
    return {"changed": later, "tensors": len(at["checksums"])}


FAULT = checkpoint_fault(
    id="live-tensors",
    title="Live tensors saved",
    description=(
        "A saver of our own hands the live tensors to a thread and returns; training goes on and "
        "changes them under its hands."
    ),
    knobs={"saver": "async", "copies": False},
    proof=proof,
    experiments=RESUMING,
    shows=("parameter-checksums", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents"),
)
