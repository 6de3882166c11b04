"""The ring as it really runs: who sends to whom, over which links, and whether two flows share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job, _traffic
from gpu_worker.probes._traffic import RingFlow
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

UNKNOWN = -1


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Paths from the bursts sent along each flow before the job began; who feeds whom from the sockets' bytes."""
    ranks = _job.job_ranks(run)
    flows, carried, kinds = _traffic.ring_flows(run), _traffic.flows_by_direction(run), _traffic.kind_of_way(run)
    most = {
        kind: max((len(some) for way, some in carried.items() if kinds[way] in names), default=0)
        for kind, names in {"uplink": ("uplink",), "host": ("access", "management")}.items()
    }
    known = len(flows) == len(ranks) and _sockets_agree(run, flows)
    shared = sorted(_traffic.spoken(way) for way, some in carried.items() if len(some) > 1)
    readings = {
        "flows_on_one_uplink": Reading(
            most["uplink"] if known else UNKNOWN, "count", "Most flows of the ring on one direction between switches"
        ),
        "flows_on_one_host_link": Reading(
            most["host"] if known else UNKNOWN, "count", "Most flows of the ring on one direction of a host's link"
        ),
        "shared_links": Reading(", ".join(shared) or "none", "text", "Directions that carry more than one"),
        "ring": Reading(_ring(flows), "text", "The ring, by who sends to whom"),
        "flows": Reading(len(flows), "count", "Flows of the ring"),
        "used_uplinks": Reading(sum(kinds[way] == "uplink" for way in carried), "count", "Switch directions in use"),
    }
    return ProbeResult(readings, {"paths": _paths(flows), "links": _links(carried, kinds)})


def _sockets_agree(run: WholeRun, flows: Sequence[RingFlow]) -> bool:
    """Whether each host's biggest flow to another host of the job is the one whose path was looked for."""
    sent, job = _traffic.sent_between(run), set(run.fabric["placement"])
    if not sent:
        return True
    expected = {flow.hosts for flow in flows if flow.hosts[0] != flow.hosts[1]}
    for host in {source for source, _ in expected}:
        targets = {pair: size for pair, size in sent.items() if pair[0] == host and pair[1] in job}
        wanted = {pair for pair in expected if pair[0] == host}
        biggest = sorted(targets, key=lambda pair: -targets[pair])[: len(wanted)]
        if set(biggest) != wanted:
            return False
    return True


def _ring(flows: Sequence[RingFlow]) -> str:
    following = {flow.source: flow.target for flow in flows}
    at, order = min(following, default=None), []
    while at is not None and at not in order:
        order.append(at)
        at = following.get(at)
    return " → ".join(str(rank) for rank in [*order, *order[:1]]) or "none"


def _paths(flows: Sequence[RingFlow]) -> Series:
    rows = tuple(
        (
            flow.name,
            f"host{flow.hosts[0]} → host{flow.hosts[1]}",
            ", ".join(flow.via) or "inside the host",
            flow.bytes_sent,
        )
        for flow in flows
    )
    caption = (
        "Links from the byte counters of every switch port, which rose when a burst was sent along one flow at a time; "
        "bytes from the hosts' sockets while the job ran."
    )
    return Series(("flow", "hosts", "links", "sent"), ("text", "text", "text", "B"), rows, caption)


def _links(carried: Mapping[str, Sequence[RingFlow]], kinds: Mapping[str, str]) -> Series:
    rows = tuple(
        (_traffic.spoken(way), kinds[way], len(some), ", ".join(flow.name for flow in some))
        for way, some in sorted(carried.items())
    )
    caption = "Directions that carry flows of the ring; two in one direction get half of it each."
    return Series(("direction", "kind", "flows", "which"), ("text", "text", "count", "text"), rows, caption)


def classify(values: Mapping[str, float]) -> str:
    """By the most flows in one direction: of an uplink first, then of a host's link."""
    if values["flows_on_one_uplink"] <= UNKNOWN or values["flows_on_one_host_link"] <= UNKNOWN:
        return INCONCLUSIVE
    if values["flows_on_one_uplink"] >= 2:
        return "shared-uplink"
    return "shared-host-link" if values["flows_on_one_host_link"] >= 2 else "apart"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """How many flows of the ring each direction carries."""
    rows = result.series["links"].rows
    labels = [row[0] for row in rows]
    traces = []
    for kind, role, some in _traffic.by_kind(rows):
        said = [f"{row[0]}: {row[3]}" for row in some]
        ends = figures.written([say(row[2], "count") for row in some])
        traces.append(figures.bars(kind, role, [row[0] for row in some], [row[2] for row in some], said, **ends))
    most = max((row[2] for row in rows), default=0)
    alt = f"Flows of the ring on {len(rows)} directions of links, at most {most} on one"
    height = max(4, round(0.6 * len(rows)))
    x = figures.numbers("flows of the ring", high=max(2.5, most + 0.5), dtick=1)
    return figures.frame(traces, alt=alt, rows=height, x=x, y=figures.names(labels), barmode="overlay")


PROBE = Probe(
    id="path-map",
    title="Path map",
    group="Fabric",
    question="Which links does each flow of the ring take, and do two share one?",
    price_min=15,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "apart": "No two flows of the ring share a direction of any link.",
        "shared-uplink": "Two or more flows of the ring share one direction of a link between switches.",
        "shared-host-link": "Two or more flows of the ring share one direction of a host's link.",
        "inconclusive": "The counters do not add up to one ring with one path for each flow.",
    },
    decisive=(Decisive("flows_on_one_uplink", "linear"), Decisive("flows_on_one_host_link", "linear")),
    deterministic=True,
    tells=("link", "placement"),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=GRAPH prints the rings and trees, and NCCL_DEBUG_SUBSYS=NET which "
        "adapter each channel uses. What the switches do with it is another matter: on InfiniBand ibtracert and the "
        "forwarding tables (ibroute) give the path of a LID pair, on RoCE the switch's ECMP hash over the UDP source "
        "port, which sFlow or per-port counters show. NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS spread "
        "one channel over more ports; adaptive routing spreads packets. Here each neighbour is one TCP connection, so "
        "a collision halves a whole flow of the ring."
    ),
)
