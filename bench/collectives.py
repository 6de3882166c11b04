"""Collectives against their floors: by ranks and rate, each operation beside its usual share, and without a fabric."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from statistics import median
from typing import Any

from bench.figure import Figure

MARKS = {4: 0.94, 8: 0.93}
LARGE_BYTES, JOB_BYTES = 140_000_000, 14_000_000
OPS_RANKS = (4, 8)


def setting(ranks: int, rate_bits_per_s: int) -> Any:
    from gpu_worker.specs import Setting, Topology

    slow = round(0.4 * rate_bits_per_s)
    topology = Topology(
        hosts_per_leaf=max(2, math.ceil(ranks / 2)),
        link_rate=rate_bits_per_s,
        far_uplink_rate=slow,
        management_rate=slow,
    )
    return Setting(topology=topology, placement=tuple(range(ranks)))


def reading(probe: str, name: str, with_: dict[str, str], ranks: int, rate_bits_per_s: int, size_bytes: int) -> float:
    """One reading of one healthy run of three kept iterations."""
    from gpu_worker.lab.run import run_experiment
    from gpu_worker.probes import PROBES
    from gpu_worker.specs import ExperimentSpec, parse_key

    spec = ExperimentSpec.model_validate(
        {
            "experiment": parse_key(PROBES[probe].experiment(with_))[0],
            "with": with_,
            "setting": setting(ranks, rate_bits_per_s),
            "size_bytes": size_bytes,
            "repeats": 3,
        }
    )
    return float(PROBES[probe].read(run_experiment(spec), with_).readings[name].value)


def fractions() -> list[Figure]:
    """The all-reduce's fraction of the wire floor by ranks and rate."""
    with_ = {"size": "job", "placement": "as-job"}
    figures = []
    for ranks, rate, size in (
        (2, 400_000_000, JOB_BYTES),
        (4, 400_000_000, JOB_BYTES),
        (8, 400_000_000, JOB_BYTES),
        (8, 400_000_000, LARGE_BYTES),
        (4, 1_000_000_000, LARGE_BYTES),
        (4, 2_000_000_000, LARGE_BYTES),
    ):
        value = reading("microbenchmark", "fraction_of_floor", with_, ranks, rate, size)
        name = f"fraction of floor, {ranks} ranks, {rate / 1e6:g} Mb/s, {size / 1e6:g} MB"
        figures.append(Figure("collectives", name, value, "", mark=MARKS.get(ranks), at_least=True))
    return figures


def operations() -> list[Figure]:
    """Each collective's fraction of its floor, with what this library usually reaches in the note."""
    from gpu_worker.probes.collectives import USUAL

    return [
        Figure(
            "collectives",
            f"fraction of floor, {op}, {ranks} ranks",
            reading(
                "collectives", "fraction_of_floor", {"op": op, "placement": "as-job"}, ranks, 400_000_000, JOB_BYTES
            ),
            "",
            note=f"usually {USUAL[op](ranks):.2f}",
        )
        for ranks in OPS_RANKS
        for op in USUAL
    ]


def without_a_fabric() -> list[Figure]:
    """The all-reduce of ranks packed on one host, over the unshaped loopback, beside the shaped floor."""
    with_ = {"size": "job", "placement": "packed"}
    figures = []
    for ranks in OPS_RANKS:
        busbw = median(reading("microbenchmark", "busbw", with_, ranks, 400_000_000, JOB_BYTES) for _ in range(3))
        note = "times what the shaped links allow"
        name = f"busbw on the unshaped loopback over 400 Mb/s, {ranks} ranks"
        figures.append(Figure("collectives", name, busbw / 400e6, "", note=note))
    return figures


def measure() -> list[Figure]:
    from gpu_worker.lab import run as lab

    os.environ["RANK37_ACCEPT_DISTURBED"] = "3"
    parts: tuple[Callable[[], list[Figure]], ...] = (fractions, operations, without_a_fabric)
    try:
        return [figure for part in parts for figure in part()]
    finally:
        lab.close()
