"""The job goes on with other code or settings than it was saved with: its samples are noised more."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The noise in force is another than the checkpoint records."""
    at = seen.resumed_alike["at"]
    now, before = (at[which]["noise_share"] for which in ("settings", "recorded"))
    require(now != before, f"{now} of a sample's bytes are noised, as before")
    return {"noise_share": now, "recorded": before}


FAULT = checkpoint_fault(
    id="resumed-with-other-settings",
    title="Resumed with other settings",
    description=(
        "The restart runs another revision of the data code: the same samples, cut at the same places, with more noise."
    ),
    knobs={"settings_after": "other-noise"},
    proof=proof,
    experiments=RESUMING,
    shows=("resume-replay",),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "sample-order", "parameter-checksums"),
)
