"""One rank's file in the newest generation is that of the generation before: all files are there, and whole."""

from __future__ import annotations

from typing import Any

from gpu_worker.checkpoints.shape import shards_of
from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """Positions of that rank's data shards in the newest generation are those of the one before."""
    ranks = len(seen.ranks)
    before, newest = (generation["positions"] for generation in seen.generations[-2:])
    keys = [f"sampler.shard{shard}.consumed" for shard in shards_of(seen.rank, ranks)]
    old = [newest[key] == before[key] for key in keys]
    require(all(old), f"the file of rank {seen.rank} is not that of the generation before")
    return {"file_of_rank": seen.rank, "positions": newest[keys[0]], "others": seen.newest["step"]}


FAULT = checkpoint_fault(
    id="mixed-generations",
    title="Mixed generations",
    description="One rank's file was not replaced: the newest generation holds one part of the generation before.",
    knobs={"damage": "older"},
    proof=proof,
    ranked="damaged_rank",
    shows=("checkpoint-contents", "parameter-checksums", "resume-replay"),
    spares=("checkpoint-manifest",),
)
