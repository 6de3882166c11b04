"""After a restart loop and framework both step the schedule; before it only one of them did."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require


def proof(seen: Seen) -> dict[str, Any]:
    """The rate after the first step is that which had been logged a step later."""
    second = seen.resumed_alike["steps"][1]
    logged, later = seen.logged(second["step"]), seen.logged(second["step"] + 1)
    rates = [one["learning_rate"] for one in (second, logged, later)]
    require(rates[0] == rates[2] != rates[1], f"rates of step {second['step']}, as logged and of the next: {rates}")
    return {"step": second["step"], "rate": rates[0], "logged": rates[1]}


FAULT = checkpoint_fault(
    id="schedule-restepped",
    title="Schedule stepped twice after a restart",
    description=(
        "The resume path attaches the schedule to the framework, which steps it as the loop does: from the restart on "
        "it moves two places a step."
    ),
    knobs={"scheduler_steps": "twice-after-restart"},
    proof=proof,
    experiments=RESUMING,
    shows=("schedule-position", "resume-replay"),
    spares=("checkpoint-manifest", "checkpoint-contents", "sample-order", "parameter-checksums"),
)
