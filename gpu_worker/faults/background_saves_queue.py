"""Background saves begin before the last one has ended, and training waits for it."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require

# Seconds; a save that need not wait finds nothing pending within a hundredth of it.
LEAST_WAIT_S = 0.02


def proof(seen: Seen) -> dict[str, Any]:
    """Some save had to wait for the one before it to be safe."""
    waits = [one["waited_s"] for rank in seen.living for one in rank["saves"]]
    require(max(waits) >= LEAST_WAIT_S, f"the longest wait for an earlier save was {max(waits):.4f} s")
    return {"longest_wait_s": round(max(waits), 4), "saves": len(seen.living[0]["saves"])}


FAULT = checkpoint_fault(
    id="background-saves-queue",
    title="Background saves that queue up",
    description=(
        "Saves are written in the background and come faster than they are written: each waits for the one before, and "
        "hosts hold a copy of the state all the time."
    ),
    knobs={"saver": "async", "saves": "every-step"},
    proof=proof,
    shows=("save-timings",),
    spares=("checkpoint-contents", "resume-replay", "parameter-checksums"),
)
