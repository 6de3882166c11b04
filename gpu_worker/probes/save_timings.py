"""What the newest save cost: how long training stood still, when it was safe, who wrote, whose memory grew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.experiments.save import SAVES as PLANNED
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

BITS = 8
ONE_WRITER, SHARED = 0.9, 0.7
# Of the bytes written: a save that reads nothing back reads 0; one rank that reads everything 1.
READ_BACK = 0.5
# Pause over time to safety: a blocking save reads 1; a background one copies and goes on.
BACKGROUND, BLOCKING = 0.5, 0.8


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Of the newest save, by rank. The floor is the slowest writer's bytes at its link's nominal rate."""
    kept = _checkpoint.recorded(run, "save")
    by_rank = kept["saves"][-1]["by_rank"]
    done = [one for one in by_rank if one is not None]
    failed = sum(one is None or one["error"] is not None for one in by_rank)
    pause_s, durable_s = (max(one[name] for one in done) for name in ("pause_s", "durable_s"))
    total, most = sum(one["bytes"] for one in done), max(one["bytes"] for one in done)
    in_all, planned = len(kept["saves"]), len(PLANNED)
    waits = [one.get("waited_s", 0.0) for save in kept["saves"] for one in save["by_rank"] if one is not None]
    floor_s = most * BITS / run.spec.setting.topology.management_rate
    step_s = sorted(step["seconds"] for step in kept["steps"])[len(kept["steps"]) // 2]
    readings = {
        "failed_ranks": Reading(failed, "count", "Ranks that did not finish the save"),
        "pause_s": Reading(pause_s, "s", "Training stood still"),
        "durable_s": Reading(durable_s, "s", "Until the save was safe"),
        "pause_share": Reading(min(1.0, pause_s / durable_s), "ratio", "Standing still over time to safety"),
        "pause_in_steps": Reading(pause_s / step_s, "ratio", "Standing still, in steps of the job"),
        "saves": Reading(in_all, "count", "Saves of the job"),
        "saves_beyond_plan": Reading(max(0, in_all - planned), "count", f"Of these, more than the {planned} planned"),
        "waited_s": Reading(max(waits), "s", "Longest wait for an earlier save before one began"),
        "read_back": Reading(
            sum(one.get("read_bytes", 0) for one in done) / max(total, 1), "ratio", "Bytes read back over bytes written"
        ),
        "bytes": Reading(total, "B", "Bytes written"),
        "largest_writer_share": Reading(most / max(total, 1), "ratio", "Share of the rank that wrote most"),
        "floor_s": Reading(floor_s, "s", "What its bytes need on one link"),
        "storage_rate": Reading(total / durable_s, "B/s", "Bytes written over time to safety"),
        "memory_growth": Reading(max(one["peak_bytes"] for one in done), "B", "Largest growth of a rank's memory"),
    }
    rows = tuple(_row(rank, one) for rank, one in enumerate(by_rank))
    columns = ("rank", "stood still", "until safe", "written", "memory grew by", "outcome")
    caption = "Of the newest save. Memory is the kernel's peak during the call over what was resident before it."
    table = Series(columns, ("text", "s", "s", "B", "B", "text"), rows, caption)
    return ProbeResult(readings, {"ranks": table})


def _row(rank: int, one: Mapping[str, Any] | None) -> tuple[Any, ...]:
    if one is None:
        return f"rank {rank}", None, None, None, None, "died"
    times = (one["pause_s"], one["durable_s"], one["bytes"], one["peak_bytes"])
    return f"rank {rank}", *times, one["error"] or "saved"


def classify(values: Mapping[str, float]) -> str:
    """Failures first, then how often, what was read back, who wrote, and whether training went on meanwhile."""
    if values["failed_ranks"] >= 1:
        return "save-failed"
    if values["saves_beyond_plan"] >= 1:
        return "more-than-planned"
    if values["read_back"] >= READ_BACK:
        return "read-back"
    share, pause = values["largest_writer_share"], values["pause_share"]
    if share >= ONE_WRITER:
        return "one-writer"
    if share > SHARED:
        return INCONCLUSIVE
    if pause <= BACKGROUND:
        return "in-the-background"
    return "every-rank-writes" if pause >= BLOCKING else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Time to safety of each rank as a bar, the pause of training as a stroke."""
    rows = [row for row in result.series["ranks"].rows if row[1] is not None]
    labels = [row[0] for row in rows]
    said = [f"{row[0]}: safe after {say(row[2], 's')}, {say(row[3], 'B')} written, {row[5]}" for row in rows]
    pauses = [f"{row[0]}: training stood still for {say(row[1], 's')}" for row in rows]
    traces = [
        figures.bars("until safe", "c1", labels, [row[2] for row in rows], said),
        figures.ticks("training stood still", labels, [row[1] for row in rows], pauses),
    ]
    pause = say(result.readings["pause_s"].value, "s")
    alt = f"Time to safety of the newest save by rank; training stood still for {pause}"
    return figures.frame(traces, alt=alt, rows=max(4, len(rows)), x=figures.numbers("seconds"), y=figures.names(labels))


PROBE = Probe(
    id="save-timings",
    title="Save timings",
    group="Checkpoint",
    question="How long does a save hold up training, who writes it, and what does it take of memory?",
    price_min=6,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_save,
    findings={
        "every-rank-writes": "Every rank writes its part, and training waits until all of it is safe.",
        "one-writer": "One rank writes everything while the others wait for it.",
        "in-the-background": "Training goes on while the save is still being written.",
        "more-than-planned": "The job saves in more steps than its plan says.",
        "read-back": "What was written is read back before training goes on.",
        "save-failed": "At least one rank did not finish the save.",
        "inconclusive": "The save is neither clearly shared nor clearly one rank's, or its pause is in between.",
    },
    decisive=(
        Decisive("failed_ranks", "linear"),
        Decisive("saves_beyond_plan", "linear"),
        Decisive("read_back", "linear"),
        Decisive("largest_writer_share", "logit"),
        Decisive("pause_share", "logit"),
    ),
    # Who writes, how often and what is read back are counts of the job's own log, not of its speed.
    deterministic=True,
    tells=("checkpoint",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Log four moments a rank: call, end of the copy to host memory, end of the write, commit. DCP logs them with "
        "TORCH_DCP_LOG or through its logger (planning, write, finish); Megatron prints save-checkpoint times and "
        "Nemo exp_manager too. dcp.async_save hides the write behind training, and the pause is then the copy over "
        "PCIe, about size a GPU over 20 GB/s with pinned memory, which must fit in host memory next to the loader. "
        "A gather to rank 0 needs its NIC for everyone's bytes and host memory for the whole state, 14 bytes a "
        "parameter; nvidia-smi shows nothing of it, free -g on that node does."
    ),
)
