"""What each host did with its compute time: on a core, waiting for a core, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

EVEN, STALLED = 0.15, 0.25
STATES = (("on a core", "c3"), ("waiting for a core", "c6"), ("neither", "c5"))


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Shares of each rank's compute time, and its scheduler counters."""
    ranks = _job.job_ranks(run)
    shares = [_shares(rank["telemetry"]) for rank in ranks]
    stalled = [share[2] for share in shares]
    at = max(range(len(ranks)), key=lambda index: stalled[index])
    others = _job.others_median(stalled, at)
    readings = {
        "stalled_share": Reading(
            stalled[at], "share", "Most stalled host: share of compute time neither on a core nor waiting for one"
        ),
        "others_stalled_share": Reading(others, "share", "The same, median of the other hosts"),
        "worst_stalled_share": Reading(stalled[at] - others, "share", "What the most stalled host has over the others"),
        "stalled_host": Reading(f"host{ranks[at]['host']}", "text", "That host"),
        "worst_waiting_share": Reading(
            max(share[1] for share in shares), "share", "Largest share of compute time spent waiting for a core"
        ),
    }
    return ProbeResult(readings, {"hosts": _table(ranks, shares)})


def _shares(telemetry: Mapping[str, float]) -> tuple[float, float, float]:
    """On a core, waiting, neither. More than one thread can use more than one core: the first share stops at 1."""
    wall = max(telemetry["compute_wall_s"], 1e-9)
    working = min(telemetry["cpu_s"] / wall, 1.0)
    waiting = min(telemetry["run_delay_s"] / wall, 1.0 - working)
    return working, waiting, max(0.0, 1.0 - working - waiting)


def _table(ranks: list[dict[str, Any]], shares: list[tuple[float, float, float]]) -> Series:
    columns = (
        "host",
        "rank",
        *(state for state, _ in STATES),
        "processor time",
        "voluntary switches",
        "involuntary switches",
    )
    rows = tuple(
        (
            f"host{rank['host']}",
            f"rank {rank['rank']}",
            *share,
            rank["telemetry"]["cpu_s"],
            rank["telemetry"]["voluntary_switches"],
            rank["telemetry"]["involuntary_switches"],
        )
        for rank, share in sorted(zip(ranks, shares, strict=True), key=lambda pair: pair[0]["host"])
    )
    units = ("text", "text", "share", "share", "share", "s", "count", "count")
    return Series(
        columns,
        units,
        rows,
        "Shares of the time between the start of forward and the end of backward, all measured steps.",
    )


def classify(values: Mapping[str, float]) -> str:
    """By what the most stalled host has over its peers: all hosts stall where all wait for something."""
    return _job.band(values["worst_stalled_share"], low=EVEN, high=STALLED, below="even", above="one-host-stalled")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Stacked shares, one bar a host."""
    rows = result.series["hosts"].rows
    labels = [row[0] for row in rows]
    traces = []
    for at, (state, role) in enumerate(STATES, 2):
        said = [f"{row[0]}: {state} {say(row[at], 'share')}" for row in rows]
        traces.append(figures.bars(state, role, labels, [100 * row[at] for row in rows], said))
    alt = "Compute time of each host by state: " + "; ".join(f"{row[0]} neither {say(row[4], 'share')}" for row in rows)
    x = figures.numbers("% of compute time", high=100.0)
    return figures.frame(traces, alt=alt, rows=len(rows), x=x, y=figures.names(labels), barmode="stack")


PROBE = Probe(
    id="host-telemetry",
    title="Host telemetry",
    group="Ranks and hosts",
    question="Does one host hold its work back: clocks, stalls, contention?",
    price_min=8,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "No host stalls: compute time is spent on a core or waiting for one, on all hosts alike.",
        "one-host-stalled": "One host spends much of its compute time neither running nor waiting for a core.",
        "inconclusive": "One host stalls a little more than the others, too little to name it.",
    },
    decisive=(Decisive("worst_stalled_share", "logit"),),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "nvidia-smi -q -d PERFORMANCE prints the clocks event reasons (SW power cap, HW thermal slowdown, HW "
        "power brake); DCGM exports them as DCGM_FI_DEV_CLOCKS_EVENT_REASONS beside SM clock, temperature, "
        "power, DCGM_FI_PROF_SM_ACTIVE, ECC counters and XID errors, and dcgmi diag tests a suspect host. A "
        "throttled GPU keeps reporting 100 % utilisation: read clocks and SM activity, never utilisation. Here "
        "the processor plays the GPU, so the counters are the scheduler's (/proc/<pid>/schedstat): held-back "
        "time shows as a gap in running time rather than as a lower clock."
    ),
)
