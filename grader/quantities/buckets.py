"""DDP's buckets, and what of their time a step cannot hide."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result

DDP_BUCKETS = Quantity(
    id="ddp-buckets",
    title="The all-reduces of a DDP step",
    formula="gradients in reverse order of registration, none split; a bucket closes once it reaches the cap",
    source="torch.nn.parallel.distributed of torch 2.13",
    compute=physics.ddp_buckets_of,
    arguments=(
        Argument("sizes", "data", "of each gradient in order of registration: 10MB,20MB,5MB", several=True),
        Argument("params", "count", "instead: of each tensor, or of a whole model of small tensors", several=True),
        Argument(
            "cap_mb",
            "data",
            "MiB of a bucket; torch's 25, and 1 for the first, if unset",
            bare_unit="MiB",
            feeds="cap_bytes",
        ),
        Argument("gradient_bytes", "data", "a parameter, where params are given", bare_unit="B"),
    ),
    results=(
        Result("buckets", "count", "a step", "number"),
        Result("bytes", "data", "in order of launch", "sizes_bytes"),
        Result("largest", "data", "may be far over the cap", "largest_bytes"),
    ),
    example="sizes=10MB,20MB,10MB,5MB cap_mb=25",
    note="The first step of a job runs as one bucket.",
)

EXPOSED_COMMUNICATION = Quantity(
    id="exposed-communication",
    title="Communication that the step waits for",
    formula="exposed = communication − min(communication, overlappable); step = compute + exposed",
    source="the definition; full overlap is assumed where there is room",
    compute=physics.exposed_communication,
    arguments=(
        Argument("compute", "time", "of the step"),
        Argument("communication", "time", "on its own", may_be_zero=True),
        Argument("overlappable", "time", "during which communication may run behind compute", may_be_zero=True),
    ),
    results=(
        Result("exposed", "time", "is waited for", "exposed_s"),
        Result("hidden", "time", "runs behind compute", "hidden_s"),
        Result("step", "time", "compute and what is exposed", "step_s"),
    ),
    example="compute=470ms communication=457ms overlappable=300ms",
)
