"""Each rank copies its part and writes it in the background: a short pause, more memory, a later commit."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Training went on before the newest save was on the disk."""
    saves = [rank["saves"][-1] for rank in seen.ranks]
    require(all(one["pause_s"] < one["durable_s"] for one in saves), f"pauses and ends of the save: {saves}")
    return {"pause_s": round(saves[0]["pause_s"], 4), "durable_s": round(saves[0]["durable_s"], 4)}


FAULT = checkpoint_fault(
    id="asynchronous-save",
    title="Saved in the background",
    description=(
        "Tensors are copied and written while training goes on: no fault, but another pause, memory and "
        "moment of safety."
    ),
    knobs={"saver": "async"},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-manifest", "checkpoint-contents", "resume-replay", "parameter-checksums"),
)
