"""After a restart the sampler shuffles with a seed of its own: the same places of another order."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The streams stand where they should, and the documents that come are not those that were logged."""
    one = seen.resumed_alike
    (again, *_), step = one["steps"], one["at"]["step"]
    require(set(one["at"]["consumed"]) == {step}, f"streams stand at {one['at']['consumed']}, the job at {step}")
    logged = seen.logged(again["step"])
    require(again["documents"] != logged["documents"], f"step {again['step']} read what was logged for it")
    return {"logged": logged["documents"], "read": again["documents"]}


FAULT = checkpoint_fault(
    id="shuffle-seed-redrawn",
    title="Shuffle seed drawn anew",
    description=(
        "The loader is restored to its place, and the order of the data is drawn with another seed: some samples come "
        "again, others never."
    ),
    knobs={"sampler_seed": "redrawn"},
    proof=proof,
    experiments=RESUMING,
    shows=("sample-order", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "parameter-checksums"),
)
