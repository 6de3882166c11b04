"""The ring and its traffic, from what counters say: paths by bursts, bytes by the hosts' sockets, links by switches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_worker.specs import WholeRun

HEADERS = 1514 / 1448  # bytes on the wire for each byte of payload in a full packet


@dataclass(frozen=True)
class RingFlow:
    """What one rank sends to its neighbour: between which hosts, over which links, how many payload bytes.

    `bytes_sent` is None where the run kept no account of its sockets.
    """

    source: int
    target: int
    hosts: tuple[int, int]
    via: tuple[str, ...]
    bytes_sent: int | None

    @property
    def name(self) -> str:
        return f"rank {self.source} → rank {self.target}"


def ring_flows(run: WholeRun) -> list[RingFlow]:
    """The flows whose paths the run's counters gave, in the order of their sources."""
    placement, sent = run.fabric["placement"], sent_between(run)
    pairs = [(placement[path["src_rank"]], placement[path["dst_rank"]]) for path in run.fabric["paths"]]
    flows = []
    for path, hosts in zip(run.fabric["paths"], pairs, strict=True):
        known = sent.get(hosts, 0) // pairs.count(hosts) if "flows" in run.fabric else None
        flows.append(RingFlow(path["src_rank"], path["dst_rank"], hosts, tuple(path["via"]), known))
    return flows


def sent_between(run: WholeRun) -> dict[tuple[int, int], int]:
    """Payload bytes from host to host, over all networks and connections."""
    sent: Counter[tuple[int, int]] = Counter()
    for flow in run.fabric.get("flows", ()):
        sent[flow["src"], flow["dst"]] += flow["bytes"]
    return dict(sent)


def directions_of(run: WholeRun, via: Sequence[str]) -> list[str]:
    """A path's links as directions, `host0->leaf0`: out of the first host, over the switches, into the last."""
    ends = {link["id"]: link["ends"] for link in run.fabric["links"]}
    half = (len(via) + 1) // 2
    climbing = [f"{ends[link][0]}->{ends[link][1]}" for link in via[:half]]
    falling = [f"{ends[link][1]}->{ends[link][0]}" for link in via[half:]]
    return climbing + falling


def flows_by_direction(run: WholeRun) -> dict[str, list[RingFlow]]:
    """Which flows of the ring each direction of a link carries."""
    carried: dict[str, list[RingFlow]] = defaultdict(list)
    for flow in ring_flows(run):
        for way in directions_of(run, flow.via):
            carried[way].append(flow)
    return dict(carried)


def kind_of_way(run: WholeRun) -> dict[str, str]:
    """access, uplink or management, by direction."""
    return {way: link["kind"] for link in run.fabric["links"] for way in link["rate"]}


def nominal_of_way(run: WholeRun) -> dict[str, int]:
    """The rate in bits/s that each direction was sold at."""
    return {way: link["nominal"] for link in run.fabric["links"] for way in link["rate"]}


KIND_ROLES = {"access": "c1", "uplink": "c3", "management": "c6"}


def by_kind(rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str, list[tuple[Any, ...]]]]:
    """(kind, role, its rows) for each kind of link that the rows (name, kind, …) hold."""
    grouped = [(kind, role, [row for row in rows if row[1] == kind]) for kind, role in KIND_ROLES.items()]
    return [group for group in grouped if group[2]]


def spoken(way: str) -> str:
    """`host0->leaf0` as pages write it."""
    return way.replace("->", " → ")


def other_owners(run: WholeRun) -> list[Mapping[str, Any]]:
    """Flows of the hosts' sockets of which one end at least is no host of the job, biggest first."""
    job = set(run.fabric["placement"])
    return [flow for flow in run.fabric.get("flows", ()) if not {flow["src"], flow["dst"]} <= job]
