"""One rank sends to one other, pair after pair: the bandwidth of the paths between hosts, without a collective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.fabric.plan import BURST_BYTES, plan_fabric

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.pairs:run_pairs"
SCOPES = ("disjoint-pairs", "by-leaf", "suspects")
AHEAD_BYTES = 6 * BURST_BYTES
TIMED_BYTES = 24 * BURST_BYTES

Pair = tuple[int, int]


def pairs_of(scope: str, leaves: Sequence[int]) -> list[Pair]:
    """The pairs of ranks that a scope measures; `leaves` is the leaf of each rank.

    `disjoint-pairs`: every pair. `by-leaf`: neighbours inside each leaf and one pair for each two leaves.
    `suspects`: the neighbours in the ring, whose flows the job is made of.
    """
    ranks = range(len(leaves))
    if scope == "disjoint-pairs":
        return list(combinations(ranks, 2))
    if scope == "suspects":
        return sorted({(min(r, (r - 1) % len(leaves)), max(r, (r - 1) % len(leaves))) for r in ranks})
    members: dict[int, list[int]] = {}
    for rank in ranks:
        members.setdefault(leaves[rank], []).append(rank)
    inside = [pair for some in members.values() for pair in pairwise(some)]
    across = [(min(a[0], b[0]), max(a[0], b[0])) for a, b in combinations(members.values(), 2)]
    return sorted(inside + across)


def rounds_of(pairs: Sequence[Pair], leaves: Sequence[int]) -> list[list[Pair]]:
    """The pairs in rounds of which each rank is in one pair at most, and each leaf in one pair that leaves it: two
    flows that leave a leaf at once might be hashed to one uplink, and each would read half. Each round then goes
    both ways, one after the other.
    """
    rounds: list[list[Pair]] = []
    for pair in pairs:
        free = next((flows for flows in rounds if _fits(pair, flows, leaves)), None)
        if free is None:
            rounds.append([pair])
        else:
            free.append(pair)
    return [way for flows in rounds for way in (flows, [(b, a) for a, b in flows])]


def _fits(pair: Pair, flows: Sequence[Pair], leaves: Sequence[int]) -> bool:
    if any(set(pair) & set(other) for other in flows):
        return False
    left = {leaves[rank] for other in flows for rank in other if _crosses(other, leaves)}
    return not _crosses(pair, leaves) or not left & {leaves[rank] for rank in pair}


def _crosses(pair: Pair, leaves: Sequence[int]) -> bool:
    return leaves[pair[0]] != leaves[pair[1]]


def phases(setup: Setup) -> tuple[Phase, ...]:
    if setup.spec.size_bytes is not None:
        raise BadSpec("pairs have a message size of their own; leave --size out")
    leaf_of = plan_fabric(setup.spec.setting.topology).leaf_of
    leaves = [leaf_of[host] for host in setup.hosts]
    scope = setup.spec.with_.get("scope", SCOPES[0])
    arguments = {
        "rounds": rounds_of(pairs_of(scope, leaves), leaves),
        "bytes": TIMED_BYTES,
        "ahead_bytes": AHEAD_BYTES,
    }
    return (
        Phase(name="pairs", hosts=setup.hosts, job=setup.job, body=BODY, size_bytes=TIMED_BYTES, arguments=arguments),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`recorded`: {transfers: [{source, target (ranks), round, seconds}], leaves: leaf of each rank}."""
    transfers = [
        {
            "source": one["source"],
            "target": rank,
            "round": one["round"],
            "seconds": round(one["seconds"], 6),
        }
        for rank, result in enumerate(raw["ranks"])
        for one in result["received"]
    ]
    return {"recorded": {"transfers": sorted(transfers, key=lambda one: (one["source"], one["target"]))}}


EXPERIMENT = Experiment(
    id="pairwise",
    title="Pairs of ranks, one after the other",
    nominal_s=12.0,
    choices={"scope": SCOPES},
    phases=phases,
    record=record,
)
