"""Files really written to the run's storage and read back, by one rank or by all at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.records import rounded

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.checkpoints.bodies:run_throughput"
# Forty times what the links' buckets let through at once.
SIZE_BYTES = 10_000_000


def phases(setup: Setup) -> tuple[Phase, ...]:
    writers = 1 if setup.spec.with_.get("writers") == "one" else len(setup.hosts)
    arguments = {"writers": writers, "size_bytes": SIZE_BYTES}
    return (Phase("storage", setup.hosts, setup.job, BODY, stored=True, size_bytes=SIZE_BYTES, arguments=arguments),)


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`files`: one a writer: {rank, bytes, wrote_s, read_s}."""
    files = [
        {"rank": number, **{name: rounded(rank[name]) for name in ("bytes", "wrote_s", "read_s")}}
        for number, rank in enumerate(raw["ranks"])
        if rank["wrote_s"] is not None
    ]
    return {"recorded": {"files": files}}


EXPERIMENT = Experiment(
    id="storage-throughput",
    title="Files written to the storage and read back",
    nominal_s=8.0,
    choices={"writers": ("one", "all")},
    phases=phases,
    record=record,
)
