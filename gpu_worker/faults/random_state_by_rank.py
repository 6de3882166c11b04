"""Random states are saved by rank: at another number of ranks some are missing and others are a neighbour's."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The random states in the checkpoint are named by rank."""
    held = seen.newest["kinds"]["rng"]
    require(held["first_key"].startswith("rng.rank"), f"the first random state is {held['first_key']}")
    return {"first_key": held["first_key"], "entries": held["entries"]}


FAULT = checkpoint_fault(
    id="random-state-by-rank",
    title="Random state kept by rank",
    description=(
        "Random states are saved under the rank that held them. As many ranks find their own again; fewer or more find "
        "those of others, or none."
    ),
    knobs={"random_keys": "by-rank"},
    proof=proof,
    shows=("resume-replay",),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "sample-order", "parameter-checksums"),
)
