"""The newest generation has all of its files, but not the mark that says so."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The newest generation has no mark, the one before has."""
    marks = [generation["marked"] for generation in seen.generations]
    require(marks[-1] is False and all(marks[:-1]), f"commit marks of the generations: {marks}")
    return {"files": len(seen.newest["files"]), "marked": False}


FAULT = checkpoint_fault(
    id="missing-commit-mark",
    title="A missing commit mark",
    description=(
        "Every rank wrote its file, and the mark that is written last is not there: the generation does not count."
    ),
    knobs={"damage": "unmarked"},
    proof=proof,
    shows=("checkpoint-manifest",),
    spares=("checkpoint-contents", "resume-replay", "parameter-checksums", "save-timings"),
)
