"""Which interface and transport the collective library really uses, as the ranks' sockets show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.fabric.plan import MANAGEMENT_INTERFACE
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Interface of each rank's sockets, and the bytes its host sent by its fabric and its management link."""
    ranks = _job.job_ranks(run)
    on_management = [rank for rank in ranks if MANAGEMENT_INTERFACE in rank["interface"].split("+")]
    interfaces = ", ".join(sorted({rank["interface"] for rank in ranks}))
    readings = {
        "interfaces": Reading(interfaces, "text", "Interfaces that the ranks' sockets are bound to"),
        "ranks_on_management": Reading(len(on_management), "count", "Ranks bound to the management interface"),
        "backend": Reading(str(run.provenance.get("backend", "gloo")), "text", "Collective library"),
        "algorithm": Reading("ring", "text", "Algorithm of its all-reduce"),
        "transport": Reading("TCP", "text", "Transport between every pair of ranks"),
    }
    rows = tuple(_row(rank, run) for rank in ranks)
    columns = ("rank", "host", "interface", "sends to", "sent by the fabric", "sent by management")
    caption = "From the ranks' own sockets and the byte counters of their hosts' links over the measured part."
    return ProbeResult(readings, {"ranks": Series(columns, ("text",) * 4 + ("B", "B"), rows, caption)})


def _row(rank: Mapping[str, Any], run: WholeRun) -> tuple[Any, ...]:
    target = (rank["rank"] - 1) % len(run.ranks)  # gloo's ring sends from each rank to the one before it
    host = f"host{rank['host']}"
    sent = {"access": 0, "management": 0}
    for link in run.fabric["links"]:
        if link["kind"] in sent and host in link["ends"]:
            other = next(end for end in link["ends"] if end != host)
            sent[link["kind"]] += run.fabric["counters"].get(f"{host}->{other}", {}).get("bytes", 0)
    return f"rank {rank['rank']}", host, rank["interface"], f"rank {target}", sent["access"], sent["management"]


def classify(values: Mapping[str, float]) -> str:
    """A count: no rank bound to the management interface, or at least one."""
    return "management-interface" if values["ranks_on_management"] >= 1 else "fabric-interface"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Bytes sent by each rank's host, by the interface that carried them."""
    rows = result.series["ranks"].rows
    labels = [row[0] for row in rows]
    traces = []
    for name, role, at in (("fabric interface", "c1", 4), ("management interface", "c5", 5)):
        said = [f"{row[0]} on {row[1]}: {say(row[at], 'B')} by the {name}" for row in rows]
        traces.append(figures.bars(name, role, labels, [row[at] / 1e6 for row in rows], said))
    alt = "Bytes sent by each rank's host and interface: " + "; ".join(f"{row[0]} {row[2]}" for row in rows)
    return figures.frame(
        traces, alt=alt, rows=len(rows), x=figures.numbers("MB sent"), y=figures.names(labels), barmode="stack"
    )


PROBE = Probe(
    id="library-choices",
    title="Library choices",
    group="Job",
    question="Which interface, transport and algorithm did the library choose?",
    price_min=10,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "fabric-interface": "The library runs over the fabric's interfaces on every rank.",
        "management-interface": "The library runs over the management interfaces, beside the fabric.",
        "inconclusive": "The sockets could not be read.",
    },
    decisive=(Decisive("ranks_on_management", "linear"),),
    deterministic=True,
    tells=("library",),
    reads="configuration",
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET prints the rings and trees and, for each "
        "connection, its transport: via P2P, via SHM, via NET/IB/0/GDRDMA or, the one to look for, via "
        "NET/Socket. NCCL_TOPO_DUMP_FILE and NCCL_GRAPH_DUMP_FILE write what it saw and chose; SUBSYS=TUNING "
        "adds algorithm and protocol. A missing plugin, an unreachable verbs device or NCCL_SOCKET_IFNAME left "
        "over from elsewhere makes it fall back without an error. gloo chooses one interface a rank and knows "
        "only TCP, so here the sockets tell everything."
    ),
)
