"""On restart the consumed samples are skipped once more, by a loader that stands behind them already."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Right after the restore each stream stands at twice what had been consumed."""
    at = [rank["at"] for rank in seen.resumed if rank["restored"]]
    require(bool(at) and all(set(one["consumed"]) == {2 * one["step"]} for one in at), f"streams stand at {at}")
    return {"consumed": at[0]["consumed"][0], "step": at[0]["step"]}


FAULT = checkpoint_fault(
    id="offset-reapplied",
    title="Offset applied twice",
    description="The restored loader stands at its place, and the loop skips the consumed samples again.",
    knobs={"sampler_offset": "applied-twice"},
    proof=proof,
    experiments=RESUMING,
    shows=("sample-order", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "parameter-checksums"),
)
