"""What distributed training should cost: one pure function a quantity, a file an idea.

In and out are plain numbers in bytes, bits/s, seconds and FLOP; `grader.units` reads and writes units at the edge, and
`grader.quantities` declares what people may ask for. Functions broadcast: numbers give a number, arrays give arrays,
each result in the shape that NumPy broadcasts the arguments it depends on to. Choices (`op`, `kind`) are one word a
call. ValueError says which argument is wrong and what is allowed.
"""

from grader.physics.buckets import Buckets, Exposed, ddp_buckets, ddp_buckets_of, exposed_communication
from grader.physics.checkpoints import (
    CheckpointOverhead,
    CheckpointPause,
    availability_interval,
    checkpoint_overhead,
    checkpoint_pause,
    checkpoint_size,
    cluster_mtbf,
    young_daly,
)
from grader.physics.collectives import (
    OPS,
    CollectiveCost,
    FractionOfFloor,
    HierarchicalCost,
    Op,
    busbw_factor,
    collective,
    fraction_of_floor,
    hierarchical_all_reduce,
    ring_all_reduce,
)
from grader.physics.fabric import (
    PAYLOAD_SHARE,
    DegradedRing,
    Oversubscription,
    degraded_ring,
    oversubscription,
    payload_floor_s,
)
from grader.physics.latency import AlphaBetaCost, alpha_beta, latency_share, rounds
from grader.physics.memory import ActivationMemory, activation_memory, zero_memory
from grader.physics.parallel import (
    MoeTraffic,
    ParallelGroups,
    PipelineBubble,
    global_batch,
    moe_all_to_all,
    parallel_groups,
    pipeline_bubble,
    tensor_parallel_traffic,
)
from grader.physics.stragglers import (
    Efficiency,
    StragglerCost,
    StragglerScore,
    scaling_efficiency,
    straggler_cost,
    straggler_score,
)
from grader.physics.transformers import iteration_flops, mfu, training_days, transformer_params

__all__ = [
    "OPS",
    "PAYLOAD_SHARE",
    "ActivationMemory",
    "AlphaBetaCost",
    "Buckets",
    "CheckpointOverhead",
    "CheckpointPause",
    "CollectiveCost",
    "DegradedRing",
    "Efficiency",
    "Exposed",
    "FractionOfFloor",
    "HierarchicalCost",
    "MoeTraffic",
    "Op",
    "Oversubscription",
    "ParallelGroups",
    "PipelineBubble",
    "StragglerCost",
    "StragglerScore",
    "activation_memory",
    "alpha_beta",
    "availability_interval",
    "busbw_factor",
    "checkpoint_overhead",
    "checkpoint_pause",
    "checkpoint_size",
    "cluster_mtbf",
    "collective",
    "ddp_buckets",
    "ddp_buckets_of",
    "degraded_ring",
    "exposed_communication",
    "fraction_of_floor",
    "global_batch",
    "hierarchical_all_reduce",
    "iteration_flops",
    "latency_share",
    "mfu",
    "moe_all_to_all",
    "oversubscription",
    "parallel_groups",
    "payload_floor_s",
    "pipeline_bubble",
    "ring_all_reduce",
    "rounds",
    "scaling_efficiency",
    "straggler_cost",
    "straggler_score",
    "tensor_parallel_traffic",
    "training_days",
    "transformer_params",
    "young_daly",
    "zero_memory",
]
