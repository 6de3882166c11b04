"""Which ranks form which groups when a job is laid out in two dimensions. Pure, without torch."""

from __future__ import annotations

from gpu_worker.specs import Parallel

DATA = "data"


def groups(parallel: Parallel, ranks: int) -> dict[str, list[list[int]]]:
    """{form: its groups, "data": the data-parallel groups}, each a list of ranks, as torch's DeviceMesh lays them.

    `inner` groups hold neighbouring ranks, the others every so-manieth. Plain DDP and FSDP2 have one group of all.
    """
    if parallel.form in ("ddp", "fsdp2"):
        return {DATA: [list(range(ranks))]}
    size = parallel.group or ranks
    width = size if parallel.inner == "model" else ranks // size  # of the inner groups
    rows = [list(range(first, first + width)) for first in range(0, ranks, width)]
    columns = [list(range(first, ranks, width)) for first in range(width)]
    inner, outer = (parallel.form, DATA) if parallel.inner == "model" else (DATA, parallel.form)
    return {inner: rows, outer: columns}
