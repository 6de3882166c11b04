"""Jobs laid out in several dimensions."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result
from grader.quantities.transformers import HIDDEN, LAYERS, SEQ

ELEMENT_BYTES = Argument("bytes", "data", "an element: 2 in BF16", bare_unit="B", feeds="element_bytes")

PIPELINE_BUBBLE = Quantity(
    id="pipeline-bubble",
    title="What filling and draining a pipeline costs",
    formula="(p−1)/(v·m) over the ideal time; (p−1)/(v·m + p−1) of the step",
    source="Narayanan et al. 2021 (Megatron-LM on GPU clusters)",
    compute=physics.pipeline_bubble,
    arguments=(
        Argument("stages", "count", "p"),
        Argument("microbatches", "count", "m, a step"),
        Argument("interleave", "count", "v, model chunks a stage"),
    ),
    results=(
        Result("bubble_over_ideal", "ratio", "of the ideal time comes on top", "over_ideal"),
        Result("step_share", "ratio", "of the step is idle", "step_share"),
    ),
    example="stages=8 microbatches=32",
    note="The two are often mistaken for each other: the paper states the first.",
)

GLOBAL_BATCH = Quantity(
    id="global-batch",
    title="Samples that one optimizer step sees",
    formula="microbatch · data_parallel · accumulation",
    source="the definition: only data-parallel ranks read samples of their own",
    compute=physics.global_batch,
    arguments=(
        Argument("microbatch", "count", "samples of one forward pass"),
        Argument("data_parallel", "count", "data-parallel ranks, not all ranks"),
        Argument("accumulation", "count", "microbatches a step"),
    ),
    results=(Result("samples", "count", "a step"),),
    example="microbatch=2 data_parallel=128 accumulation=8",
)

PARALLEL_GROUPS = Quantity(
    id="parallel-groups",
    title="Which ranks form which groups",
    formula="ranks are numbered through a mesh in `order`, the last dimension fastest; "
    "data = world/(tensor·pipeline·context), and experts are divided among the data-parallel ranks",
    source="torch.distributed.device_mesh (init_device_mesh)",
    compute=physics.parallel_groups,
    arguments=(
        Argument("world", "count", "all ranks"),
        Argument("tensor", "count", "ranks that share a layer"),
        Argument("pipeline", "count", "stages"),
        Argument("context", "count", "ranks that share a sequence"),
        Argument("expert", "count", "ranks that share the experts of a layer"),
        Argument("order", "words", "dimensions, outermost first; Megatron-LM writes them innermost first"),
    ),
    results=(
        Result("data_parallel", "count", "replicas of the dense weights", "data_parallel"),
        Result("expert_data_parallel", "count", "replicas of each expert", "expert_data_parallel"),
        Result("tensor", "ranks", "share each layer", "tensor"),
        Result("context", "ranks", "share each sequence", "context"),
        Result("data", "ranks", "hold the same dense weights", "data"),
        Result("expert", "ranks", "hold different experts", "expert"),
        Result("expert_data", "ranks", "hold the same experts", "expert_data"),
        Result("pipeline", "ranks", "are stages of one pipeline", "pipeline"),
    ),
    example="world=16 tensor=4 pipeline=2",
)

TENSOR_PARALLEL_TRAFFIC = Quantity(
    id="tensor-parallel-traffic",
    title="What tensor parallelism sends a step",
    formula="4·L·2(t−1)/t·b·s·h·bytes: two all-reduces a layer forward, two backward",
    source="Megatron-LM (Shoeybi et al. 2019), with the ring's 2(t−1)/t",
    compute=physics.tensor_parallel_traffic,
    arguments=(
        Argument("batch", "count", "sequences of the microbatch"),
        SEQ,
        HIDDEN,
        LAYERS,
        Argument("tensor", "count", "t, tensor-parallel ranks"),
        ELEMENT_BYTES,
    ),
    results=(Result("bytes_per_rank", "data", "sent by a rank for one microbatch"),),
    example="batch=1 seq=4096 hidden=8192 layers=80 tensor=8 bytes=2",
    note="Recomputing whole layers adds the forward two once more.",
)

MOE_ALL_TO_ALL = Quantity(
    id="moe-all-to-all",
    title="What one layer of experts sends",
    formula="an all-to-all: tokens·top_k·hidden·bytes·(n−1)/n; forward has two (dispatch, combine), backward two more",
    source="GShard (Lepikhin et al. 2020), with the all-to-all's (n−1)/n; routing taken as even",
    compute=physics.moe_all_to_all,
    arguments=(
        Argument("tokens", "count", "of one rank"),
        HIDDEN,
        Argument("top_k", "count", "experts that a token is sent to"),
        Argument("experts_parallel", "count", "n, ranks that share the experts"),
        ELEMENT_BYTES,
    ),
    results=(
        Result("dispatch", "data", "one all-to-all", "dispatch_bytes"),
        Result("forward", "data", "dispatch and combine", "forward_bytes"),
        Result("backward", "data", "the same again", "backward_bytes"),
        Result("step", "data", "all four", "step_bytes"),
    ),
    example="tokens=8192 hidden=7168 top_k=8 experts_parallel=64 bytes=2",
    note="Bytes a rank sends for one layer; a hot expert receives more than its share.",
)
