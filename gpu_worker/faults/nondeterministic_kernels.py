"""After a restart sums are taken in another order, so that results differ in their last digits."""

from __future__ import annotations

from typing import Any

from gpu_worker.faults._checkpoint import RESUMING, Seen, checkpoint_fault, require

# Relative; a hundred times what other orders of the same sums give here.
MOST_APART = 1e-5


def proof(seen: Seen) -> dict[str, Any]:
    """Some loss or gradient norm is another than logged, and none by more than rounding can explain."""
    pairs = [
        (step[name], seen.logged(step["step"])[name])
        for step in seen.resumed_alike["steps"]
        for name in ("loss", "gradient_norm")
    ]
    apart = [abs(now - before) / abs(before) for now, before in pairs if None not in (now, before)]
    require(0 < max(apart) <= MOST_APART, f"the largest relative difference is {max(apart):.2g}")
    return {"largest_apart": max(apart)}


FAULT = checkpoint_fault(
    id="nondeterministic-kernels",
    title="Kernels that are not deterministic",
    description=(
        "The same samples are added up in another order after the restart, as kernels with atomics would: the last "
        "digits differ, and nothing else."
    ),
    knobs={"sums_after": "other-order"},
    proof=proof,
    experiments=RESUMING,
    shows=("resume-replay",),
    spares=("checkpoint-manifest", "checkpoint-contents", "schedule-position", "sample-order", "parameter-checksums"),
)
