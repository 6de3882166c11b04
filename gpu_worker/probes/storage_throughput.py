"""How fast ranks really write to the storage and read from it, one alone or all at once, against their links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun, experiment_key

BITS = 8
BELOW, AT_RATE = 0.65, 0.8
MEGABYTE = 1e6


def experiment(params: Mapping[str, str]) -> str:
    return experiment_key("storage-throughput", {"writers": params.get("writers", "all")})


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Rates of each writer, and the slowest direction of any over the nominal rate of a host's link."""
    files = run.recorded.get("files", [])
    if run.spec.experiment != "storage-throughput" or not files:
        raise ValueError(f"run of {run.spec.key}: this probe reads files written to the storage")
    nominal = run.spec.setting.topology.management_rate / BITS
    rows = tuple(
        (f"rank {one['rank']}", one["bytes"], one["bytes"] / one["wrote_s"], one["bytes"] / one["read_s"], nominal)
        for one in files
    )
    slowest = min(rows, key=lambda row: min(row[2], row[3]))
    moved = sum(row[1] for row in rows)
    readings = {
        "writers": Reading(len(rows), "count", "Ranks writing at once"),
        "write_rate": Reading(moved / max(one["wrote_s"] for one in files), "B/s", "Written by all of them together"),
        "read_rate": Reading(moved / max(one["read_s"] for one in files), "B/s", "Read by all of them together"),
        "nominal_rate": Reading(nominal * len(rows), "B/s", "Nominal rate of their links together"),
        "fraction_of_nominal": Reading(
            min(slowest[2], slowest[3]) / nominal, "ratio", "Slowest rank and direction over its link's nominal rate"
        ),
        "slowest": Reading(slowest[0], "text", "Slowest rank"),
    }
    columns = ("rank", "bytes", "wrote", "read", "nominal")
    caption = "Files really written and read back, and compared byte by byte."
    table = Series(columns, ("text", "B", "B/s", "B/s", "B/s"), rows, caption)
    return ProbeResult(readings, {"files": table})


def classify(values: Mapping[str, float]) -> str:
    """By the slowest rank and direction: a save waits for its last writer."""
    fraction = values["fraction_of_nominal"]
    return _job.band(fraction, low=BELOW, high=AT_RATE, below="below-rate", above="at-rate")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Rates of each rank as bars, its link's nominal rate as a stroke."""
    rows = result.series["files"].rows
    labels = [row[0] for row in rows]
    traces = []
    for name, role, at in (("written", "c1", 2), ("read", "c6", 3)):
        said = [f"{row[0]}: {say(row[at], 'B/s')} {name}" for row in rows]
        traces.append(figures.bars(name, role, labels, [row[at] / MEGABYTE for row in rows], said))
    said = [f"{row[0]}: nominal {say(row[4], 'B/s')}" for row in rows]
    traces.append(figures.ticks("nominal", labels, [row[4] / MEGABYTE for row in rows], said))
    share = say(result.readings["fraction_of_nominal"].value, "ratio")
    alt = f"Storage rates of {len(rows)} ranks against their links; slowest share {share}"
    return figures.frame(
        traces, alt=alt, rows=max(4, 2 * len(rows)), x=figures.numbers("MB/s"), y=figures.names(labels), barmode="group"
    )


PROBE = Probe(
    id="storage-throughput",
    title="Storage throughput",
    group="Checkpoint",
    question="Does the storage take and give what the ranks' links to it carry?",
    price_min=8,
    stops_job=False,
    parameters={"writers": ("one", "all")},
    experiment=experiment,
    findings={
        "at-rate": "Every rank writes and reads at about the rate of its link to the storage.",
        "below-rate": "At least one rank writes or reads clearly below the rate of its link.",
        "inconclusive": "The slowest rank is somewhat below the rate of its link.",
    },
    decisive=(Decisive("fraction_of_nominal", "log"),),
    deterministic=False,
    tells=("storage",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "fio with direct=1 and the block size of the checkpoint's writes from one node, then from all of them at once "
        "(--client), or IOR and mdtest over MPI: one node's rate tells its link, all nodes' the file system's servers. "
        "Buffered writes flatter until memory is full, and reads after writes come from the page cache: drop it, or "
        "read on another node. lfs getstripe shows how a Lustre file is striped, nfsstat -c and mountstats the waits "
        "of NFS; on object stores count parts and retries. Here every host has one shaped link to the storage, so one "
        "writer against all shows whether links or the storage itself set the pace."
    ),
)
