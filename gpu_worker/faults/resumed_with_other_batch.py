"""The job goes on with another batch than it was saved with: one sample a rank."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """A step takes other numbers of samples than the checkpoint records."""
    at = seen.resumed_alike["at"]
    now, before = (at[which]["samples_a_step"] for which in ("settings", "recorded"))
    require(now != before, f"a step takes {now} samples, as before")
    return {"samples_a_step": now, "recorded": before}


FAULT = checkpoint_fault(
    id="resumed-with-other-batch",
    title="Resumed with another batch",
    description=(
        "The launch file of the restart has another microbatch, so that a step takes half of the samples that it took."
    ),
    knobs={"settings_after": "other-batch"},
    proof=proof,
    experiments=RESUMING,
    shows=("resume-replay", "sample-order"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "parameter-checksums"),
)
