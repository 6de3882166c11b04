"""Every rank saves its positions in the data under the same keys, of which one rank's survive (torchtitan#816)."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Fewer positions were kept than the ranks have streams."""
    kept = [key for key in seen.newest["positions"] if key.startswith("sampler.")]
    streams = sum(len(rank["steps"][0]["documents"]) for rank in seen.living)
    require(len(kept) < streams, f"{len(kept)} positions were saved of {streams} streams")
    return {"positions_kept": len(kept), "streams": streams}


FAULT = checkpoint_fault(
    id="loader-state-shared-key",
    title="Loader state under one key",
    description=(
        "All ranks save their loader's state under the same key; the checkpoint keeps one rank's, and "
        "every rank restores it."
    ),
    knobs={"sampler_keys": "shared"},
    proof=proof,
    shows=("sample-order", "resume-replay"),
    spares=("checkpoint-manifest", "schedule-position", "parameter-checksums"),
)
