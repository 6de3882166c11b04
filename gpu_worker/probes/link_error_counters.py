"""What links dropped and what TCP sent again while the job ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

# TCP sends up to 2.4 in 1,000 segments again for nothing on a shared machine without any loss.
CLEAN, ERRORS = 5e-3, 10e-3
MANY_PACKETS = 200
PACKET_BYTES = 1514


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Drops of each direction over its packets, and each rank's retransmits over the segments its host sent."""
    counters = run.fabric["counters"]
    links = {way: _drops(count) for way, count in counters.items() if _packets(count) >= MANY_PACKETS}
    resent = {f"rank {rank['rank']}": _resent(rank, counters) for rank in _job.job_ranks(run)}
    dropped = max(links.values(), default=0.0)
    again = max(resent.values(), default=0.0)
    readings = {
        "worst_error_share": Reading(max(dropped, again), "share", "Worst share of packets dropped or sent again"),
        "worst_drop_share": Reading(dropped, "share", "Worst share of packets that a link dropped"),
        "worst_drop_link": Reading(
            max(links, key=lambda way: links[way]).replace("->", " → ") if dropped else "none",
            "text",
            "Direction with it",
        ),
        "worst_retransmit_share": Reading(again, "share", "Worst share of packets that a rank sent again"),
        "worst_retransmit_rank": Reading(
            max(resent, key=lambda rank: resent[rank]) if again else "none", "text", "Rank with it"
        ),
        **_carriers(run),
    }
    rows = tuple(
        (
            way.replace("->", " → "),
            counters[way]["bytes"],
            _packets(counters[way]),
            counters[way]["drops"],
            1e6 * links[way],
            counters[way]["overlimits"],
        )
        for way in links
    )
    columns = ("direction", "carried", "packets", "drops", "drops per million", "times held back")
    units = ("text", "B", "count", "count", "per-million", "count")
    caption = (
        "Directions that carried traffic in the measured part. Being held back is a full bucket at work, not an error."
    )
    return ProbeResult(readings, {"links": Series(columns, units, rows, caption), "ranks": _ranks(run, resent)})


def _carriers(run: WholeRun) -> dict[str, Reading]:
    """How often a link went away altogether; runs of before it was counted have no such reading."""
    downs = {link["id"]: link["carrier_downs"] for link in run.fabric["links"] if "carrier_downs" in link}
    if not downs:
        return {}
    worst = max(downs, key=lambda link: downs[link])
    return {
        "carrier_downs": Reading(sum(downs.values()), "count", "Times that a link lost its carrier"),
        "carrier_link": Reading(worst if downs[worst] else "none", "text", "Link that did so most"),
    }


def _packets(count: Mapping[str, float]) -> float:
    """Packets on the wire: with segmentation offload the counter counts bursts of up to 64 kB as one."""
    return max(count["packets"], count["bytes"] / PACKET_BYTES)


def _drops(count: Mapping[str, float]) -> float:
    return count["drops"] / max(_packets(count), 1.0)


def _resent(rank: Mapping[str, Any], counters: Mapping[str, Mapping[str, float]]) -> float:
    sent = sum(_packets(count) for way, count in counters.items() if way.startswith(f"host{rank['host']}->"))
    return rank["telemetry"]["tcp_retransmits"] / max(sent, rank["telemetry"].get("tcp_segments_out", 0), 1.0)


def _ranks(run: WholeRun, resent: Mapping[str, float]) -> Series:
    rows = tuple(
        (f"rank {rank['rank']}", f"host{rank['host']}", rank["telemetry"]["tcp_retransmits"], 1e6 * share)
        for rank, share in zip(_job.job_ranks(run), resent.values(), strict=True)
    )
    columns = ("rank", "host", "segments sent again", "sent again per million")
    return Series(columns, ("text", "text", "count", "per-million"), rows, "TCP retransmits of each rank's host.")


def classify(values: Mapping[str, float]) -> str:
    """By the worst share. A full queue drops a little when healthy; a bad link drops steadily."""
    return _job.band(values["worst_error_share"], low=CLEAN, high=ERRORS, below="clean", above="errors")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Drops per million packets by direction, and packets sent again by rank."""
    links, ranks = result.series["links"].rows, result.series["ranks"].rows
    labels = [row[0] for row in (*links, *ranks)]
    values = [*(row[4] for row in links), *(row[3] for row in ranks)]
    high = max(1.15 * max(values, default=0.0), 1000.0)
    traces = [
        _bars("dropped by the link", "c5", [(row[0], row[3], row[4]) for row in links]),
        _bars("sent again by the rank", "c4", [(row[0], row[2], row[3]) for row in ranks]),
    ]
    worst = say(max(values, default=0.0), "per-million")
    alt = f"Drops and retransmits on {len(links)} directions and {len(ranks)} ranks; worst {worst} packets"
    height = max(4, round(0.6 * len(labels)))
    return figures.frame(
        traces,
        alt=alt,
        rows=height,
        x=figures.numbers("per million packets", high=high),
        y=figures.names(labels),
        barmode="overlay",
    )


def _bars(name: str, role: str, rows: list[tuple[str, float, float]]) -> dict[str, Any]:
    """Bars of (label, count, per million), each with its count at the end: none would be no bar at all."""
    said = [f"{label}: {say(count)}, {say(per_million, 'per-million')}" for label, count, per_million in rows]
    ends = figures.written([say(count) for _, count, _ in rows])
    return figures.bars(name, role, [row[0] for row in rows], [row[2] for row in rows], said, **ends)


PROBE = Probe(
    id="link-error-counters",
    title="Link error counters",
    group="Fabric",
    question="Does any link lose what it carries?",
    price_min=12,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "clean": "No link drops, and no rank sends again, more than a busy healthy fabric does.",
        "errors": "A link drops, or a rank sends again, clearly more than a busy healthy fabric does.",
        "inconclusive": "A little more is dropped or sent again than usual; too little to name a link.",
    },
    decisive=(Decisive("worst_error_share", "log"),),
    deterministic=False,
    tells=("link",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "perfquery and ibdiagnet read SymbolErrorCounter, LinkErrorRecovery, LinkDowned and PortXmitWait on "
        "every port of the fabric; on RoCE ethtool -S holds rx_discards, out_of_sequence, packet_seq_err and "
        "the pause and ECN counters. Counters only say something as a difference over time, and against the "
        "traffic carried. RDMA retries in the adapter, so nothing appears in TCP statistics: NCCL either slows "
        "down or fails with IBV_WC_RETRY_EXC_ERR. Here the links are queues with token buckets, and TCP's "
        "retransmits stand in for the adapter's."
    ),
)
