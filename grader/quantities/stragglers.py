"""One slow rank among many, and what more ranks bring."""

from __future__ import annotations

from grader import physics
from grader.physics.stragglers import SCALINGS
from grader.quantities.base import Argument, Quantity, Result

STRAGGLER_COST = Quantity(
    id="straggler-cost",
    title="What a slow rank costs a job that waits for all",
    formula="f, the slowest sets the pace; where each rank is slow with probability p: 1 + (f−1)(1−(1−p)ⁿ)",
    source="the expected maximum of n ranks that are slow independently",
    compute=physics.straggler_cost,
    arguments=(
        Argument("ranks", "count", "that wait for each other"),
        Argument("slow_factor", "factor", "how many times slower, 1 or more"),
        Argument("probability", "ratio", "that a rank is slow in a step; without it one always is", may_be_zero=True),
    ),
    results=(
        Result("step_time_ratio", "factor", "the step without a slow rank", "step_ratio"),
        Result("chance", "ratio", "of the steps meet a slow rank", "chance"),
    ),
    example="ranks=1024 slow_factor=1.34 probability=0.1%",
)

STRAGGLER_SCORE = Quantity(
    id="straggler-score",
    title="How slow a rank is beside its peers",
    formula="reference median / own median, collectives left out; flagged below 0.75",
    source="NVIDIA Resiliency Extension, straggler detection",
    compute=physics.straggler_score,
    arguments=(
        Argument("own_median", "time", "of the rank, outside collectives"),
        Argument("reference_median", "time", "of the fastest rank, or of the median rank; say which"),
    ),
    results=(
        Result("score", "ratio", "of the reference's speed", "score"),
        Result("flagged", "flag", "below 0.75", "flagged"),
    ),
    example="own_median=596ms reference_median=250ms",
    note="Step totals hide a straggler, since all wait for it: only time outside collectives tells.",
)

SCALING_EFFICIENCY = Quantity(
    id="scaling-efficiency",
    title="What more ranks bring of what they could",
    formula="strong: t₁n₁/(tₙnₙ); weak: t₁/tₙ",
    source="the definitions: the same work in all (strong), or a rank (weak)",
    compute=physics.scaling_efficiency,
    arguments=(
        Argument("time_1", "time", "of a step on few ranks"),
        Argument("ranks_1", "count", "the few"),
        Argument("time_n", "time", "of a step on many ranks"),
        Argument("ranks_n", "count", "the many"),
        Argument("kind", "choice", "of scaling: is the work fixed for all, or a rank", choices=SCALINGS),
    ),
    results=(
        Result("efficiency", "ratio", "of perfect scaling", "efficiency"),
        Result("speedup", "factor", "the work a second", "speedup"),
    ),
    example="time_1=2.1s ranks_1=8 time_n=2.8s ranks_n=64 kind=weak",
)
