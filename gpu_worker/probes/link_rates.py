"""The rate each link is set to, against the rate it was bought at: a configuration read, not a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job, _traffic
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

TOLERANCE = 0.02


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Rates as the kernel holds them. `scope` suspects: the access links of the job's hosts; all: every link."""
    links = [link for link in run.fabric["links"] if params.get("scope") == "all" or _is_suspect(link, run)]
    lower = [link for link in links if _share(link) < 1 - TOLERANCE]
    lowest = min(links, key=_share)
    readings = {
        "links_read": Reading(len(links), "count", "Links read"),
        "links_below_nominal": Reading(len(lower), "count", "Links set lower than their nominal rate"),
        "lowest_share": Reading(_share(lowest), "ratio", "Lowest set rate over nominal"),
        "lowest_link": Reading(lowest["id"] if lower else "none", "text", "Link with the lowest share"),
    }
    rows = tuple(_row(link) for link in links)
    columns = ("link", "kind", "one way", "other way", "nominal", "set over nominal")
    caption = "Read from each link's configuration. A link that drops or delays what it carries can still read nominal."
    return ProbeResult(readings, {"links": Series(columns, ("text", "text", *("bit/s",) * 3, "ratio"), rows, caption)})


def _is_suspect(link: Mapping[str, Any], run: WholeRun) -> bool:
    hosts = {f"host{host}" for host in run.fabric["placement"]}
    return link["kind"] == "access" and bool(hosts & set(link["ends"]))


def _ways(link: Mapping[str, Any]) -> tuple[float, float]:
    a, b = link["ends"]
    return link["rate"][f"{a}->{b}"], link["rate"][f"{b}->{a}"]


def _share(link: Mapping[str, Any]) -> float:
    return min(_ways(link)) / link["nominal"]


def _row(link: Mapping[str, Any]) -> tuple[Any, ...]:
    return link["id"], link["kind"], *_ways(link), link["nominal"], _share(link)


def classify(values: Mapping[str, float]) -> str:
    """A count: none below nominal, or at least one."""
    return "one-link-lower" if values["links_below_nominal"] >= 1 else "nominal"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """The lower direction of each link as a bar, its nominal rate as a stroke."""
    rows = result.series["links"].rows
    labels = [row[0] for row in rows]
    traces = []
    for kind, role, some in _traffic.by_kind(rows):
        said = [
            f"{row[0]}: {say(row[2], 'bit/s')} and {say(row[3], 'bit/s')}, nominal {say(row[4], 'bit/s')}"
            for row in some
        ]
        traces.append(figures.bars(kind, role, [row[0] for row in some], [min(row[2:4]) / 1e6 for row in some], said))
    said = [f"{row[0]}: nominal {say(row[4], 'bit/s')}" for row in rows]
    traces.append(figures.ticks("nominal", labels, [row[4] / 1e6 for row in rows], said, size=14))
    lowest = say(result.readings["lowest_share"].value, "ratio")
    alt = f"Set rate of {len(rows)} links against nominal; lowest share {lowest}"
    height = max(4, round(0.66 * len(rows)))
    return figures.frame(
        traces, alt=alt, rows=height, x=figures.numbers("Mb/s"), y=figures.names(labels), barmode="overlay"
    )


PROBE = Probe(
    id="link-rates",
    title="Link rates",
    group="Fabric",
    question="Is every link set to the rate it should run at?",
    price_min=12,
    stops_job=False,
    parameters={"scope": ("suspects", "all")},
    experiment=_job.on_job,
    findings={
        "nominal": "Every link read is set to its nominal rate.",
        "one-link-lower": "At least one link is set lower than its nominal rate.",
        "inconclusive": "The rates could not be read.",
    },
    decisive=(Decisive("links_below_nominal", "linear"),),
    deterministic=True,
    tells=("link",),
    reads="configuration",
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "ibstat and ibv_devinfo print each port's rate and width; iblinkinfo sweeps the whole InfiniBand "
        "fabric, switch to switch, and marks ports that could run faster; on RoCE ethtool prints the negotiated "
        "speed and mlxlink the lanes and raw errors. nvidia-smi topo -m and nvidia-smi nvlink -s cover the "
        "inside of a node, lspci -vv the PCIe width. Read the uplinks too: a ring crosses them, and nobody's "
        "host shows them. Here a token bucket holds the rate: reading it says how the link is set, not what it "
        "carries."
    ),
)
