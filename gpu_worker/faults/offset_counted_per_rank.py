"""The place in the data is kept as samples of a rank, and means another place at another number of ranks."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """At the saved world size every stream stands where it should, at others somewhere else."""
    places = {len(one["at"]["consumed"]): (one["at"]["consumed"][0], one["at"]["step"]) for one in seen.restored}
    own = len(seen.resumed_alike["at"]["consumed"])
    wrong = [streams for streams, (consumed, step) in places.items() if consumed != step]
    require(bool(wrong) and own not in wrong, f"streams of a rank and their places: {places}")
    return {"places": places}


FAULT = checkpoint_fault(
    id="offset-counted-per-rank",
    title="Offset counted by rank",
    description=(
        "The checkpoint counts the samples that a rank has consumed. At another number of ranks a rank takes another "
        "share of a step, and the count means another place in the data."
    ),
    knobs={"sampler_offset": "by-rank"},
    proof=proof,
    experiments=RESUMING,
    shows=("resume-replay", "sample-order"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "parameter-checksums"),
)
