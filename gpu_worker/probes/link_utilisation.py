"""How full each link was while the job ran, and whose bytes filled it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job, _traffic
from gpu_worker.probes._traffic import RingFlow
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

# Acknowledgements and frames that the sockets do not count come to about a fiftieth of what a busy direction carries.
ALONE, OTHERS = 0.06, 0.15
EVEN, BUSIER = 1.25, 1.6
# Directions that carry less than this share of the busiest hold acknowledgements only.
BUSY = 0.1


@dataclass(frozen=True)
class Way:
    """One direction of a link over the measured part: bytes on the wire, the job's among them, and how full it was."""

    name: str
    kind: str
    carried: float
    job: float
    utilisation: float
    flows: int

    @property
    def others(self) -> float:
        return max(0.0, self.carried - self.job)

    @property
    def others_share(self) -> float:
        return self.others / max(self.carried, 1.0)


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Bytes by direction from the switches' counters; the job's part of them from its hosts' sockets and paths."""
    wall_s = max(rank["telemetry"]["wall_s"] for rank in _job.job_ranks(run))
    ways = _ways(run, wall_s)
    ring = [way for way in ways if way.flows]
    shared = max(ring, key=lambda way: way.others_share, default=None)
    typical = median(way.job for way in ring) if ring else 0.0
    busiest = max(ring, key=lambda way: way.job, default=None)
    others = _traffic.other_owners(run)
    worst = shared.others_share if shared else 0.0
    ratio = busiest.job / max(typical, 1.0) if busiest else 1.0
    fullest = max((way.utilisation for way in ways), default=0.0)
    readings = {
        "others_share": Reading(worst, "share", "Worst share of others on a link of ours"),
        "others_link": Reading(_said(shared if worst >= ALONE else None), "text", "Direction with it"),
        "others": Reading(_between(others[0]) if others else "none", "text", "Biggest flow that is not the job's"),
        "busiest_ratio": Reading(ratio, "ratio", "The job's bytes on its busiest direction over its usual one"),
        "busiest_link": Reading(_said(busiest), "text", "Busiest direction"),
        "fullest": Reading(fullest, "share", "Highest mean rate over nominal, idle time included"),
    }
    return ProbeResult(readings, {"links": _links(ways), "owners": _owners(run, others, wall_s)})


def _said(way: Way | None) -> str:
    return _traffic.spoken(way.name) if way else "none"


def _ways(run: WholeRun, wall_s: float) -> list[Way]:
    """Every direction that carried data, by kind and name."""
    kinds, nominal, counters = _traffic.kind_of_way(run), _traffic.nominal_of_way(run), run.fabric["counters"]
    by_way, job = _traffic.flows_by_direction(run), _bytes_of_the_job(run)
    most = max((count["bytes"] for count in counters.values()), default=0)
    return [
        Way(
            name=name,
            kind=kinds[name],
            carried=count["bytes"],
            job=min(job[name], count["bytes"]),
            utilisation=8 * count["bytes"] / max(wall_s, 1e-9) / nominal[name],
            flows=len(by_way.get(name, ())),
        )
        for name, count in sorted(counters.items(), key=lambda item: list(kinds).index(item[0]))
        if count["bytes"] >= BUSY * most or by_way.get(name)
    ]


def _bytes_of_the_job(run: WholeRun) -> Counter[str]:
    """Wire bytes of the job by direction: its ring's along their paths, all else between its hosts where it may be."""
    job: Counter[str] = Counter()
    for flow in _traffic.ring_flows(run):
        for way in _traffic.directions_of(run, flow.via):
            job[way] += round(_sent(run, flow) * _traffic.HEADERS)
    ring = {flow.hosts for flow in _traffic.ring_flows(run)}
    hosts = set(run.fabric["placement"])
    for flow in run.fabric.get("flows", ()):
        pair = flow["src"], flow["dst"]
        if pair not in ring and set(pair) <= hosts:
            for way in _possible(run, pair, flow["network"]):
                job[way] += round(flow["bytes"] * _traffic.HEADERS)
    return job


def _sent(run: WholeRun, flow: RingFlow) -> float:
    """Payload bytes of a flow of the ring; where sockets were not read, what the gradients' ring must have sent."""
    if flow.bytes_sent is not None:
        return flow.bytes_sent
    ranks = len(run.ranks)
    return 2 * (ranks - 1) / ranks * run.size_bytes * len(run.ranks[0]["steps"])


def _possible(run: WholeRun, pair: tuple[int, int], network: str) -> list[str]:
    """Directions that a flow between two hosts may take: out of one, into the other, and any between their switches."""
    kinds = _traffic.kind_of_way(run)
    ends = {way: way.split("->") for way in kinds}
    out = [way for way, (source, _) in ends.items() if source == f"host{pair[0]}" and kinds[way] == network]
    into = [way for way, (_, target) in ends.items() if target == f"host{pair[1]}" and kinds[way] == network]
    low, high = {ends[way][1] for way in out}, {ends[way][0] for way in into}
    if low & high:
        return out + into
    between = [w for w, (a, b) in ends.items() if kinds[w] == "uplink" and (a in low or b in high)]
    return out + between + into


def _between(flow: Mapping[str, Any]) -> str:
    return f"host{flow['src']} → host{flow['dst']}"


def _links(ways: Sequence[Way]) -> Series:
    rows = tuple(
        (
            _traffic.spoken(way.name),
            way.kind,
            way.carried,
            way.job,
            way.others,
            way.others_share,
            way.utilisation,
            way.flows,
        )
        for way in ways
    )
    columns = (
        "direction",
        "kind",
        "carried",
        "the job's",
        "others'",
        "others' share",
        "mean rate over nominal",
        "flows of the ring",
    )
    units = ("text", "text", "B", "B", "B", "share", "share", "count")
    caption = (
        "Carried by the switches' counters; the job's part from its sockets, headers added. What is left belongs to "
        "others, or is acknowledgements."
    )
    return Series(columns, units, rows, caption)


def _owners(run: WholeRun, others: Sequence[Mapping[str, Any]], wall_s: float) -> Series:
    job = set(run.fabric["placement"])
    ours = [flow for flow in run.fabric.get("flows", ()) if {flow["src"], flow["dst"]} <= job]
    rows = tuple(
        (
            owner,
            _between(flow),
            flow["network"],
            flow["connections"],
            flow["bytes"],
            8 * flow["bytes"] / max(wall_s, 1e-9),
        )
        for owner, flows in (("the job", ours), ("others", others))
        for flow in flows
        if flow["bytes"] * 100 >= max((f["bytes"] for f in (*ours, *others)), default=0)
    )
    columns = ("owner", "hosts", "network", "connections", "sent", "mean rate")
    units = ("text", "text", "text", "count", "B", "bit/s")
    return Series(columns, units, rows, "Who sends to whom, from the sockets of every host while the job ran.")


def classify(values: Mapping[str, float]) -> str:
    """Others' share of a link of the ring first; then whether the job itself loads one direction more than the rest."""
    others, ratio = values["others_share"], values["busiest_ratio"]
    if others >= OTHERS:
        return "others-too"
    if others >= ALONE or EVEN <= ratio < BUSIER:
        return INCONCLUSIVE
    return "one-link-busier" if ratio >= BUSIER else "job-alone"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """What each direction carried, stacked by owner."""
    rows = result.series["links"].rows
    labels = [row[0] for row in rows]
    said = [f"{row[0]}: {say(row[3], 'B')} of the job, {say(row[4], 'B')} of others" for row in rows]
    traces = [
        figures.bars("the job", "c1", labels, [row[3] / 1e6 for row in rows], said),
        figures.bars("others", "c5", labels, [row[4] / 1e6 for row in rows], said),
    ]
    worst = say(result.readings["others_share"].value, "share")
    alt = f"Bytes on {len(rows)} directions of links by owner; others hold at most {worst} of one that the job uses"
    height = max(4, round(0.6 * len(rows)))
    return figures.frame(
        traces, alt=alt, rows=height, x=figures.numbers("MB"), y=figures.names(labels), barmode="stack"
    )


PROBE = Probe(
    id="link-utilisation",
    title="Link utilisation",
    group="Fabric",
    question="How full are the links that the job uses, and whose traffic is it?",
    price_min=10,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "job-alone": "The links of the ring carry the job's own traffic alone, each about as much.",
        "others-too": "Somebody else's traffic fills a good part of a link that the ring uses.",
        "one-link-busier": "One direction of a link carries clearly more of the job's bytes than the ring's usual one.",
        "inconclusive": "Somebody else's traffic, or an uneven load, is there but too little to blame a link.",
    },
    decisive=(Decisive("others_share", "logit"), Decisive("busiest_ratio", "log")),
    deterministic=False,
    tells=("link",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "perfquery or the subnet manager's counters (PortXmitData in units of four bytes, PortXmitWait) give each "
        "InfiniBand port, ethtool -S and the switch's telemetry each Ethernet one; take differences over some steps. "
        "Owners come from sFlow or IPFIX samples at the switches, or from rdma statistic and ss -tin on the hosts, "
        "held against the scheduler's list of who runs where. RDMA bypasses the kernel: node exporters that read "
        "/proc/net/dev show nothing of it. A mean over a step hides that the links are idle in between: compare with "
        "the time inside the collective."
    ),
)
