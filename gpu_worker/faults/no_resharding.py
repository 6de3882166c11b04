"""The loader gives a rank its own part back and cannot cut parts anew for another world size (DeepSpeed#2898)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The saved world size was restored, every other one refused."""
    answers = {name: phase["ranks"][0]["error"] for name, phase in seen.phases.items() if name.startswith("resume-")}
    refused = [name for name, error in answers.items() if error and "CannotReshard" in error]
    require(len(refused) == len(answers) - 1, f"refused: {refused}")
    return {"refused": refused}


FAULT = checkpoint_fault(
    id="no-resharding",
    title="No resharding",
    description=(
        "Each rank takes back what it wrote. At another number of ranks the parts do not fit, and the loader refuses."
    ),
    knobs={"resharding": False},
    proof=proof,
    experiments=RESUMING,
    shows=("resume-replay",),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "sample-order", "parameter-checksums"),
)
