"""Arithmetic for jobs in other forms than plain DDP: time in each group's collectives, bubbles, tokens, spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker.probes import _job
from gpu_worker.probes.base import Reading, Series
from gpu_worker.specs import WholeRun
from grader.physics import pipeline_bubble


def form_of(run: WholeRun) -> str:
    """How the job is laid out, before any fault; a fault never changes the form."""
    return run.spec.setting.job.parallel.form


def readings(run: WholeRun) -> dict[str, Reading]:
    """What only this form has; empty for plain DDP."""
    form = form_of(run)
    if form == "pipeline":
        return _bubble_readings(run)
    if form == "expert":
        return _expert_readings(run)
    return _context_readings(run) if form == "context" else {}


def series(run: WholeRun) -> dict[str, Series]:
    """Tables that only these forms have: a row a group and operation, and what is dealt out unevenly."""
    form = form_of(run)
    if form == "ddp":
        return {}
    tables = {"groups": _groups(run)}
    if form == "expert":
        tables["experts"] = _experts(run)
    return tables


def compute_spans(step: Mapping[str, Any]) -> list[_job.Interval]:
    """When this rank computed in a step."""
    return [(begun, ended) for _, begun, ended in step["spans"]]


def together_share(steps: Sequence[Mapping[str, Any]]) -> float:
    """Of one step of every rank: the share of the time in which some rank computes that another computes too."""
    edges = sorted((at, change) for step in steps for span in compute_spans(step) for at, change in _edges(span))
    busy, several, running, since = 0.0, 0.0, 0, 0.0
    for at, change in edges:
        busy += at - since if running else 0.0
        several += at - since if running > 1 else 0.0
        running, since = running + change, at
    return several / max(busy, 1e-9)


def _edges(span: _job.Interval) -> tuple[tuple[float, int], tuple[float, int]]:
    return (span[0], 1), (span[1], -1)


def _groups(run: WholeRun) -> Series:
    """Of the rank that spends most time in each: a step's collectives of one operation in one group."""
    rate = run.spec.setting.topology.link_rate
    slowest: dict[tuple[str, str, tuple[int, ...]], tuple[float, ...]] = {}
    for rank in _job.job_ranks(run):
        for (name, op), row in _rank_groups(rank, rate).items():
            key = (name, op, tuple(rank["groups"].get(name, ())))
            slowest[key] = max(slowest.get(key, row), row)
    hosts = run.fabric["placement"]
    rows = tuple(
        (
            name,
            ", ".join(str(member) for member in members),
            ", ".join(f"host{hosts[member]}" for member in members),
            *(op, int(row[1]), row[2], row[0], row[3], row[3] / max(row[0], 1e-9)),
        )
        for (name, op, members), row in sorted(slowest.items())
    )
    columns = (
        *("group", "ranks", "hosts", "operation", "collectives a step", "bytes a step", "time inside", "wire floor"),
        "fraction of floor",
    )
    units = ("text", "text", "text", "text", "count", "B", "s", "s", "ratio")
    caption = (
        "Medians over steps, of the member that waits longest in it. The floor takes a whole link at the nominal rate "
        "for itself; a wait for a late member counts as time inside."
    )
    return Series(columns, units, rows, caption)


def _rank_groups(rank: Mapping[str, Any], rate: float) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """By (group, operation): median seconds inside a step, collectives, bytes, floor."""
    by_step: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
    for step in rank["steps"]:
        for key in {(c["group"], c["op"]) for c in step["collectives"] if c["bytes"]}:
            mine = [c for c in step["collectives"] if (c["group"], c["op"]) == key]
            sums = (
                sum(c["done"] - c["launch"] for c in mine),
                float(len(mine)),
                float(sum(c["bytes"] for c in mine)),
                sum(_job.entry_floor_s(c, rate) for c in mine),
            )
            by_step.setdefault(key, []).append(sums)
    return {key: _medians(rows) for key, rows in by_step.items()}


def _medians(rows: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    inside, count, size, floor = (median(row[at] for row in rows) for at in range(4))
    return inside, count, size, floor


def _bubble_readings(run: WholeRun) -> dict[str, Reading]:
    ranks = _job.job_ranks(run)
    step = ranks[0]["steps"][0]
    stages, microbatches = len(ranks[0]["groups"]["pipeline"]), step["microbatches"]
    idle = median(_idle_share(steps) for steps in zip(*(rank["steps"] for rank in ranks), strict=True))
    planned = pipeline_bubble(stages, microbatches).step_share
    return {
        "bubble_share": Reading(idle, "share", "Share of the step in which a stage computes nothing, mean over stages"),
        "bubble_formula": Reading(planned, "share", f"(p−1)/(m+p−1), {stages} stages, {microbatches} microbatches"),
        "microbatches": Reading(microbatches, "count", "Microbatches a step"),
    }


def _idle_share(steps: Sequence[Mapping[str, Any]]) -> float:
    """Over the passes alone: from the first to the last moment in which any stage computes."""
    spans = [compute_spans(step) for step in steps]
    begun, ended = min(s[0][0] for s in spans), max(s[-1][1] for s in spans)
    return 1 - sum(_job.length(s) for s in spans) / (len(spans) * max(ended - begun, 1e-9))


def tokens_by_expert(run: WholeRun) -> list[float]:
    """Tokens that all ranks sent to each expert in a step and its layers, median over steps."""
    ranks = _job.job_ranks(run)
    steps = list(zip(*(rank["steps"] for rank in ranks), strict=True))
    sums = [[sum(column) for column in zip(*(s["tokens_to_expert"] for s in each), strict=True)] for each in steps]
    return [median(row[expert] for row in sums) for expert in range(len(sums[0]))]


def _expert_readings(run: WholeRun) -> dict[str, Reading]:
    tokens = tokens_by_expert(run)
    busiest = max(range(len(tokens)), key=lambda at: tokens[at])
    share = tokens[busiest] / max(sum(tokens), 1)
    return {
        "busiest_expert_share": Reading(share, "share", "Share of all tokens that go to the busiest expert"),
        "even_expert_share": Reading(1 / len(tokens), "share", "The same if all experts were alike"),
        "busiest_expert": Reading(f"expert {busiest}", "text", "That expert"),
    }


def _experts(run: WholeRun) -> Series:
    tokens = tokens_by_expert(run)
    rows = tuple((f"expert {at}", count, count / max(sum(tokens), 1)) for at, count in enumerate(tokens))
    caption = "Tokens that the routers of all ranks sent to each expert in a step, over all layers; median over steps."
    return Series(("expert", "tokens a step", "share"), ("text", "count", "share"), rows, caption)


def _context_readings(run: WholeRun) -> dict[str, Reading]:
    reach = [rank["steps"][0]["attends_to"] for rank in _job.job_ranks(run)]
    held = [rank["steps"][0]["tokens"] for rank in _job.job_ranks(run)]
    return {
        "tokens_ratio": Reading(max(held) / min(held), "ratio", "Most tokens on a rank over fewest"),
        "attention_ratio": Reading(max(reach) / min(reach), "ratio", "Most tokens attended to a token, over fewest"),
    }
