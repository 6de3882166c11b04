"""The optimizer's raw state is saved, keyed by number; a fresh optimizer asks for none of it (KempnerForge#115)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Moments are in the checkpoint under numbers."""
    key = seen.newest["kinds"]["optimizer"]["first_key"]
    numbered = all(g["kinds"]["optimizer"]["bytes"] > 0 for g in seen.generations)
    require("optimizer.param_groups" in key or ".state.0." in key, f"its first key is {key}")
    require(numbered, "no optimizer state was saved")
    return {"first_key": key, "bytes": seen.newest["kinds"]["optimizer"]["bytes"]}


FAULT = checkpoint_fault(
    id="raw-optimizer-state",
    title="Raw optimizer state",
    description=(
        "optimizer.state_dict() goes into the checkpoint as it is; on load a fresh optimizer has no "
        "entries to fill, and none are asked for."
    ),
    knobs={"optimizer_form": "raw"},
    proof=proof,
    shows=("parameter-checksums", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "sample-order"),
)
