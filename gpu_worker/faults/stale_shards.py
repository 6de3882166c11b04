"""The newest generation's folder held files of a job of another world size, and still holds those not overwritten."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The folder holds files that its commit mark does not name."""
    beyond = [file["name"] for file in seen.newest["files"] if file["expected"] is None]
    require(bool(beyond), "the commit mark names every file in the folder")
    return {"files_beyond": len(beyond), "files": len(seen.newest["files"])}


FAULT = checkpoint_fault(
    id="stale-shards",
    title="Stale shards",
    description=(
        "A checkpoint of another world size lies under the new one in the same folder; whoever counts "
        "or globs finds both."
    ),
    knobs={"reused_folder": True},
    proof=proof,
    shows=("checkpoint-manifest",),
    spares=("checkpoint-contents", "resume-replay", "parameter-checksums"),
)
