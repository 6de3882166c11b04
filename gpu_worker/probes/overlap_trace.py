"""Which part of the backward computation has communication running under it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _forms, _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

SERIAL, OVERLAPPED = 0.15, 0.35
MOST_ROWS = 24
COMPUTE = (("input", "c6"), ("forward", "c1"), ("backward", "c3"))


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Head start of communication, covered share of backward, hidden share of communication: medians over steps, then
    over ranks. The head start decides: unlike a covered share, which is exactly 0 in every serial run, it has a spread
    from which a distribution can be fitted."""
    if _forms.form_of(run) != "ddp":
        return _taking_turns(run)
    ranks = _job.job_ranks(run)
    each = [[_measure(step) for step in rank["steps"]] for rank in ranks]
    by_rank = [tuple(median(step[at] for step in steps) for at in range(5)) for steps in each]
    covered, hidden, flight, count, head_start = (median(row[at] for row in by_rank) for at in range(5))
    readings = {
        "head_start": Reading(
            head_start, "share", "First collective before the end of backward, over backward (negative: after it)"
        ),
        "backward_covered": Reading(covered, "share", "Share of backward with a collective in flight"),
        "communication_hidden": Reading(hidden, "share", "Share of communication time that lies under backward"),
        "communication_s": Reading(flight, "s", "Communication in flight a step"),
        "collectives": Reading(count, "count", "Collectives a step"),
        "bytes_each": Reading(run.size_bytes / max(count, 1), "B", "Mean size of a collective"),
    }
    rows = tuple((f"rank {rank['rank']}", *row) for rank, row in zip(ranks, by_rank, strict=True))
    columns = (
        *("rank", "backward covered", "communication hidden", "communication in flight"),
        *("collectives a step", "head start"),
    )
    table = Series(columns, ("text", "share", "share", "s", "count", "share"), rows, "Medians over the measured steps.")
    return ProbeResult(readings, {"timeline": _timeline(ranks, by_rank), "ranks": table})


def _measure(step: dict[str, Any]) -> tuple[float, float, float, float, float]:
    window, flights = _job.backward_window(step), _job.flights(step)
    flight, under = _job.length(flights), _job.length(_job.clipped(flights, window))
    backward = max(window[1] - window[0], 1e-9)
    head_start = (window[1] - min((begun for begun, _ in flights), default=window[1])) / backward
    return under / backward, under / max(flight, 1e-9), flight, float(len(flights)), head_start


def _timeline(ranks: list[dict[str, Any]], by_rank: list[tuple[float, ...]]) -> Series:
    """One step of the rank whose covered share is the middle one: phases, then each collective."""
    rank = ranks[sorted(range(len(ranks)), key=lambda at: by_rank[at][0])[len(ranks) // 2]]
    step = sorted(rank["steps"], key=lambda one: one["total_s"])[len(rank["steps"]) // 2]
    rows: list[tuple[str, str, float, float]] = []
    at = 0.0
    for phase, _ in COMPUTE:
        rows.append(("compute", phase, at, at + step[f"{phase}_s"]))
        at += step[f"{phase}_s"]
    rows.append(("compute", "optimizer", at + step["exposed_s"], at + step["exposed_s"] + step["optimizer_s"]))
    rows += _drawn(step)
    caption = (
        f"A step of median length on rank {rank['rank']}, since it began. The optimizer waits for the last bucket."
    )
    return Series(("row", "what", "from", "to"), ("text", "text", "s", "s"), tuple(rows), caption)


def _drawn(step: dict[str, Any]) -> list[tuple[str, str, float, float]]:
    """A row a collective; where they are too many to draw, a row for each few that follow one another."""
    held = step["collectives"]
    few = max(1, math.ceil(len(held) / MOST_ROWS))
    return [_row(held[at : at + few], at + 1, step["start"]) for at in range(0, len(held), few)]


def _row(held: list[dict[str, Any]], first: int, start: float) -> tuple[str, str, float, float]:
    name = f"bucket {first}" if len(held) == 1 else f"buckets {first}–{first + len(held) - 1}"
    begun, ended = min(one["launch"] for one in held), max(one["done"] for one in held)
    return name, say(sum(one["bytes"] for one in held), "B"), begun - start, ended - start


def _taking_turns(run: WholeRun) -> ProbeResult:
    """Forms whose ranks wait for each collective themselves: nothing is hidden on the rank that waits. What runs at
    once is the computing of different stages of a pipeline, and their share decides."""
    ranks, form = _job.job_ranks(run), _forms.form_of(run)
    steps = list(zip(*(rank["steps"] for rank in ranks), strict=False))
    together = median(_forms.together_share(each) for each in steps) if form == "pipeline" else 0.0
    by_rank = [tuple(median(_turns(step)[at] for step in rank["steps"]) for at in range(3)) for rank in ranks]
    rows = tuple((f"rank {rank['rank']}", *row) for rank, row in zip(ranks, by_rank, strict=True))
    what = "another stage computes too" if form == "pipeline" else "a collective runs"
    readings = {
        "head_start": Reading(together, "share", f"Share of the computing during which {what}"),
        "communication_s": Reading(median(row[1] for row in by_rank), "s", "Time in collectives a step"),
        "collectives": Reading(median(row[2] for row in by_rank), "count", "Collectives a step"),
        **_forms.readings(run),
    }
    table = Series(
        ("rank", "computing", "in collectives", "collectives a step"),
        ("text", "s", "s", "count"),
        rows,
        "Medians over the measured steps.",
    )
    return ProbeResult(readings, {"timeline": _turns_timeline(ranks), "ranks": table})


def _turns(step: dict[str, Any]) -> tuple[float, float, float]:
    waits = [entry for entry in step["collectives"] if entry["bytes"]]
    return _job.length(_forms.compute_spans(step)), sum(e["done"] - e["launch"] for e in waits), float(len(waits))


def _turns_timeline(ranks: list[dict[str, Any]]) -> Series:
    """One step of middle length, every rank: what it computed and when."""
    first = ranks[0]["steps"]
    at = sorted(range(len(first)), key=lambda number: first[number]["total_s"])[len(first) // 2]
    start = min(rank["steps"][at]["start"] for rank in ranks)
    rows = tuple(
        (f"rank {rank['rank']}", name, begun - start, ended - start)
        for rank in ranks
        for name, begun, ended in rank["steps"][at]["spans"]
    )
    caption = "A step of middle length since it began; between its spans a rank waits for others or for the network."
    return Series(("row", "what", "from", "to"), ("text", "text", "s", "s"), rows, caption)


def classify(values: Mapping[str, float]) -> str:
    """By the head start: it does not depend on how fast the links are, the hidden share does."""
    return _job.band(values["head_start"], low=SERIAL, high=OVERLAPPED, below="serial", above="overlapped")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """One step as a timeline: compute on top, every collective on a row of its own below."""
    rows = result.series["timeline"].rows
    labels = list(dict.fromkeys(row[0] for row in rows))
    if "compute" not in labels:
        return _turns_figure(result, labels)
    traces = [
        _spans(name, role, [row for row in rows if row[0] == "compute" and row[1] == name])
        for name, role in (*COMPUTE, ("optimizer", "c4"))
    ]
    traces.append(_spans("all-reduce", "c2", [row for row in rows if row[0] != "compute"]))
    covered = say(result.readings["backward_covered"].value, "share")
    alt = f"Timeline of one step: compute above, {len(labels) - 1} collectives below; they cover {covered} of backward"
    return figures.frame(
        traces,
        alt=alt,
        rows=max(4, round(0.72 * len(labels))),
        x=figures.numbers("ms since the step began"),
        y=figures.names(labels),
        barmode="overlay",
        bargap=0.2,
        shapes=_backward_shade(rows),
    )


def _turns_figure(result: ProbeResult, labels: list[str]) -> dict[str, Any]:
    rows = result.series["timeline"].rows
    traces = [_spans(name, role, [row for row in rows if row[1] == name]) for name, role in COMPUTE[1:]]
    together = say(result.readings["head_start"].value, "share")
    alt = f"Timeline of one step of {len(labels)} ranks: when each computes; for {together} of it another does too"
    return figures.frame(
        traces,
        alt=alt,
        rows=len(labels),
        x=figures.numbers("ms since the step began"),
        y=figures.names(labels),
        barmode="overlay",
        bargap=0.2,
    )


def _spans(name: str, role: str, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    said = [f"{row[0]} · {row[1]}: {say(row[2], 's')} to {say(row[3], 's')}" for row in rows]
    lengths = [1000 * (row[3] - row[2]) for row in rows]
    return figures.bars(name, role, [row[0] for row in rows], lengths, said, base=[1000 * row[2] for row in rows])


def _backward_shade(rows: tuple[tuple[Any, ...], ...]) -> list[dict[str, Any]]:
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": 1000 * row[2],
            "x1": 1000 * row[3],
            "y0": 0,
            "y1": 1,
            "fillcolor": "role:c3@0.12",
            "line": {"width": 0},
            "layer": "below",
        }
        for row in rows
        if row[1] == "backward"
    ]


PROBE = Probe(
    id="overlap-trace",
    title="Overlap trace",
    group="Job",
    question="Does communication run under the backward pass, or after it?",
    price_min=12,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "overlapped": "Collectives are launched during backward and run under it.",
        "serial": "No collective runs before backward has ended: communication is wholly exposed.",
        "inconclusive": "Only a small part of backward has communication under it.",
    },
    decisive=(Decisive("head_start", "linear"),),
    deterministic=False,
    tells=("overlap",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Take a torch.profiler or Nsight Systems trace of a few steps: NCCL kernels sit on a stream of their "
        "own, and Holistic Trace Analysis prints the share overlapped by compute. Overlap is lost with no_sync "
        "left on, one bucket as large as the model, find_unused_parameters, a graph break, or a synchronise in "
        "a hook. On GPUs overlap is not free: NCCL's channels take SMs and memory bandwidth from backward. Here "
        "gloo's threads take processor time instead, which costs more."
    ),
)
