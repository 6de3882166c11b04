"""The job as placed, and once more with the ranks of each leaf on each other's hosts.

What belongs to a host (its clock, its neighbours, its link) stays where it is; what belongs to a rank (its shard, its
store, its code) moves with it. Hosts are exchanged within a leaf, so that the ring crosses as many switches as before
and nothing but the hosts of the ranks differs; where no leaf has two ranks, all ranks take turns.

`recorded` is {"before": [a rank as in WholeRun.ranks], "after": the same}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.job import job_phase, ranks_by_phase
from gpu_worker.fabric.plan import leaf_of_host

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

NAMES = ("before", "after")


def phases(setup: Setup) -> tuple[Phase, ...]:
    """Both phases run under the same faults, the second one on exchanged hosts."""
    placed = replace(job_phase(setup), name=NAMES[0])
    leaves = [leaf_of_host(setup.spec.setting.topology, host) for host in placed.hosts]
    return placed, replace(placed, name=NAMES[1], hosts=exchanged(placed.hosts, leaves))


def exchanged(hosts: Sequence[int], leaves: Sequence[int]) -> tuple[int, ...]:
    """The host of each rank after the swap: that of the next rank on its leaf, of the last one that of the first.

    `hosts` and `leaves` are by rank. A rank alone on its leaf stays, unless all are: then leaves do not count.
    """
    if len(set(leaves)) == len(leaves):
        leaves = [0] * len(hosts)
    neighbours = {leaf: [rank for rank, own in enumerate(leaves) if own == leaf] for leaf in leaves}
    turned = {rank: (*ranks[1:], ranks[0])[at] for ranks in neighbours.values() for at, rank in enumerate(ranks)}
    return tuple(hosts[turned[rank]] for rank in range(len(hosts)))


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"recorded": dict(zip(NAMES, ranks_by_phase(plan, raw), strict=True))}


EXPERIMENT = Experiment(
    id="host-swap",
    title="The job as placed and on exchanged hosts",
    nominal_s=30.0,
    choices={},
    phases=phases,
    record=record,
)
