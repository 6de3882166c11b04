"""How long each rank waits for its batch, and how fast its source delivers."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

FLAGGED, CLEAR = 0.75, 0.85


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Median wait for a batch, bytes a batch and delivery rate of each rank."""
    times = _job.rank_times(run)
    rows = tuple(_row(rank) for rank in _job.job_ranks(run))
    fed = _job.input_scores(times)
    at = _job.worst(fed)
    readings = {
        "worst_input_score": Reading(
            fed[at], "ratio", "Worst input score: others' median input + compute over the same with own input"
        ),
        "slowest_rank": Reading(times[at].name, "text", "Rank with that score"),
        "slowest_input_s": Reading(times[at].input_s, "s", "Its median wait for a batch"),
        "others_input_s": Reading(
            _job.others_median([r.input_s for r in times], at), "s", "Wait for a batch, median of the others"
        ),
        "slowest_share_of_step": Reading(
            times[at].input_s / times[at].total_s, "share", "Its wait as a share of its step"
        ),
    }
    columns = ("rank", "host", "median wait", "longest wait", "bytes a batch", "delivered")
    units = ("text", "text", "s", "s", "B", "B/s")
    return ProbeResult(
        readings, {"input": Series(columns, units, rows, "Wait for the next batch, by rank, over the measured steps.")}
    )


def _row(rank: dict[str, Any]) -> tuple[Any, ...]:
    waits = [step["input_s"] for step in rank["steps"]]
    size = median(step["input_bytes"] for step in rank["steps"])
    rate = median(step["input_bytes"] / max(step["input_s"], 1e-9) for step in rank["steps"])
    return f"rank {rank['rank']}", f"host{rank['host']}", median(waits), max(waits), size, rate


def classify(values: Mapping[str, float]) -> str:
    """By the worst input score."""
    return _job.band(values["worst_input_score"], low=FLAGGED, high=CLEAR, below="one-rank-slow", above="even")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Bars of the median wait with a stroke at the longest."""
    rows = result.series["input"].rows
    labels = [row[0] for row in rows]
    said = [f"{row[0]} on {row[1]}: {say(row[2], 's')} for {say(row[4], 'B')}, {say(row[5], 'B/s')}" for row in rows]
    traces = [
        figures.bars("median wait", "c6", labels, [1000 * row[2] for row in rows], said),
        figures.ticks(
            "longest",
            labels,
            [1000 * row[3] for row in rows],
            [f"{row[0]}: longest {say(row[3], 's')}" for row in rows],
        ),
    ]
    alt = "Median wait for a batch: " + ", ".join(f"{row[0]} {say(row[2], 's')}" for row in rows)
    return figures.frame(traces, alt=alt, rows=len(rows), x=figures.numbers("ms a batch"), y=figures.names(labels))


PROBE = Probe(
    id="input-timings",
    title="Input timings",
    group="Ranks and hosts",
    question="Does every rank get its next batch in time?",
    price_min=8,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "All ranks get their batches after about the same wait.",
        "one-rank-slow": "One rank waits much longer for its batches than the others.",
        "inconclusive": "One rank waits somewhat longer for its batches, too little to explain the slowdown.",
    },
    decisive=(Decisive("worst_input_score", "log"),),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Time next(iter(loader)) on every rank, or read enumerate(DataLoader)#__next__ in a torch.profiler "
        "trace. With prefetching workers a slow source shows only once the queue runs dry, so also watch the "
        "queue's depth. On the host: iostat -x, nfsiostat or the file system client's statistics, and pidstat "
        "for workers held to few cores. Here one process reads without prefetching: the wait is the whole "
        "delivery time, where a real loader would hide part of it behind compute."
    ),
)
