"""When each rank enters the collectives of a step, against the others."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

TOGETHER, LATE = 0.12, 0.18
TOGETHER_TURNS, TURNS = 0.08, 0.12


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Lateness of each rank: its launch less the median launch of the others, mean over the collectives of a step."""
    ranks = _job.job_ranks(run)
    by_step = _job.lateness_by_step(run, ranks)
    typical = [median(step[at] for step in by_step) for at in range(len(ranks))]
    step = _job.step_s(run)
    last = max(range(len(ranks)), key=lambda at: typical[at])
    readings = {
        "worst_lateness_share": Reading(
            typical[last] / step, "share", "Latest rank's typical lateness, share of the step"
        ),
        "worst_lateness_s": Reading(typical[last], "s", "The same in seconds"),
        "latest_rank": Reading(f"rank {ranks[last]['rank']}", "text", "Rank that typically enters last"),
        "changing_lateness_share": Reading(
            _changing(by_step) / step,
            "share",
            "Typical lateness of whoever else is last, the rank that is late most left out, share of the step",
        ),
        "times_last": Reading(
            sum(max(row) == row[last] for row in by_step), "count", f"Steps of {len(by_step)} in which it was the last"
        ),
    }
    rows = tuple(
        (number, f"rank {ranks[at]['rank']}", late)
        for number, row in enumerate(by_step, 1)
        for at, late in enumerate(row)
    )
    caption = "Launch less the others' median launch, mean over the collectives of a step; below zero is early."
    return ProbeResult(
        readings, {"lateness": Series(("step", "rank", "lateness"), ("count", "text", "s"), rows, caption)}
    )


def _changing(by_step: list[list[float]]) -> float:
    """Median over steps of the largest lateness, without the rank whose lateness is largest on the whole.

    Near zero where one rank alone is late, however irregularly; large where ranks take turns.
    """
    sums = [sum(column) for column in zip(*by_step, strict=True)]
    most = sums.index(max(sums))
    return median(max(late for at, late in enumerate(row) if at != most) for row in by_step)


def classify(values: Mapping[str, float]) -> str:
    """By the latest rank's lateness as a share of the step; then by that of changing ranks."""
    worst, changing = values["worst_lateness_share"], values["changing_lateness_share"]
    if worst >= LATE:
        return "one-rank-late"
    if changing >= TURNS:
        return "ranks-take-turns"
    return "together" if worst < TOGETHER and changing < TOGETHER_TURNS else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """A dot a step and a stroke at the median, one row a rank."""
    rows = result.series["lateness"].rows
    labels = list(dict.fromkeys(row[1] for row in rows))
    said = [f"{rank}, step {step}: {say(late, 's')}" for step, rank, late in rows]
    middles = [1000 * median(late for _, rank, late in rows if rank == label) for label in labels]
    traces = [
        figures.dots("one step", "c1", [row[1] for row in rows], [1000 * row[2] for row in rows], said, opacity=0.75),
        figures.ticks(
            "median",
            labels,
            middles,
            [f"{a}: median {say(b / 1000, 's')}" for a, b in zip(labels, middles, strict=True)],
        ),
    ]
    span = f"{say(min(middles) / 1000, 's')} to {say(max(middles) / 1000, 's')}"
    alt = f"Lateness of {len(labels)} ranks at the collective, one dot a step; medians from {span}"
    x = figures.numbers("ms after the others' median", zeroline=True, zerolinecolor="role:line", zerolinewidth=2)
    return figures.frame(traces, alt=alt, rows=len(labels), x=x, y=figures.names(labels))


PROBE = Probe(
    id="collective-arrivals",
    title="Arrivals at the collective",
    group="Ranks and hosts",
    question="Does one rank enter the collective after the others, step after step?",
    price_min=4,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "together": "The ranks enter their collectives at about the same time.",
        "one-rank-late": "One rank enters its collectives clearly after the others; they wait inside for it.",
        "ranks-take-turns": "In most steps some rank comes late, and not always the same; the others wait for it.",
        INCONCLUSIVE: "One rank tends to be later, within what shared machines also show when healthy.",
    },
    decisive=(Decisive("worst_lateness_share", "log"), Decisive("changing_lateness_share", "log")),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "PyTorch's Flight Recorder holds when each collective was created on each rank (TORCH_FR_BUFFER_SIZE, "
        "formerly TORCH_NCCL_TRACE_BUFFER_SIZE; TORCH_NCCL_ENABLE_TIMING=1 adds start and duration), and "
        "torchfrtrace pairs the dumps of all ranks by sequence number. In a profiler trace compare the start of "
        "the same ncclDevKernel_AllReduce. Host clocks of different machines agree to a millisecond at best, "
        "and here all ranks share one clock: on a cluster either align traces at the end of a collective, which "
        "all ranks leave nearly together, or compare durations. The late rank is the one with the shortest "
        "kernel."
    ),
)
