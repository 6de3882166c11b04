"""Where the learning-rate schedule stands after the restart, against the step counter and the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

PER_MILLE = 1e3


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Step counter and schedule of the restored job at the saved world size; its rates against those logged."""
    kept = _checkpoint.recorded(run, "resume-replay")
    own = _checkpoint.at_saved_size(kept)
    at, pairs = own["at"] or {}, _checkpoint.pairs(kept, own)
    step, position = at.get("step", 0), at.get("schedule", 0)
    newest = _checkpoint.newest(kept["generations"], marked=True)
    newer = sum(one["marked"] and one["step"] > step for one in kept["generations"]) if at else 0
    rows = tuple((before["step"], before["learning_rate"], after["learning_rate"]) for before, after in pairs)
    readings = {
        "restores": Reading(int(bool(at)), "count", "Restores that succeeded"),
        "step_counter": Reading(step, "count", "Step counter after the restore"),
        "newest_complete": Reading(newest["step"] if newest else 0, "count", "Step of the newest complete generation"),
        "generations_newer": Reading(newer, "count", "Complete generations newer than the restored one"),
        "schedule": Reading(position, "count", "Position of the schedule after the restore"),
        "schedule_ahead": Reading(
            max(0, position - step), "count", "Positions that the schedule is ahead of the steps"
        ),
        "rates_apart": Reading(sum(row[1] != row[2] for row in rows), "count", "Steps with another rate than logged"),
        "steps_compared": Reading(len(rows), "count", "Steps run both times"),
    }
    caption = "Learning rate by step as logged before the restart and after it."
    series = Series(("step", "rate logged", "rate after the restart"), ("count", "ratio", "ratio"), rows, caption)
    return ProbeResult(readings, {"rates": series})


def classify(values: Mapping[str, float]) -> str:
    """Counts: an older generation, a schedule ahead of its steps, rates other than logged."""
    if values["restores"] < 1:
        return INCONCLUSIVE
    if values["generations_newer"] >= 1:
        return "older-generation"
    if values["schedule_ahead"] >= 1:
        return "ahead-of-steps"
    return "rate-apart" if values["rates_apart"] >= 1 else "in-step"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Rate of each step after the restart as a bar, as logged as a stroke."""
    rows = result.series["rates"].rows
    if not rows:
        return {}
    labels = [f"step {row[0]}" for row in rows]
    said = [f"step {row[0]}: rate {row[1]:.6f} logged, {row[2]:.6f} after the restart" for row in rows]
    traces = [
        figures.bars("after the restart", "c1", labels, [row[2] * PER_MILLE for row in rows], said),
        figures.ticks("logged", labels, [row[1] * PER_MILLE for row in rows], said),
    ]
    alt = f"Learning rate of {len(rows)} steps; {result.readings['rates_apart'].value} other than logged"
    x = figures.numbers("learning rate, thousandths")
    return figures.frame(traces, alt=alt, rows=max(4, len(rows)), x=x, y=figures.names(labels))


PROBE = Probe(
    id="schedule-position",
    title="Schedule position",
    group="Checkpoint",
    question="Do step counter and learning rate go on where the newest checkpoint was taken?",
    price_min=3,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_replay,
    findings={
        "in-step": "The newest complete generation was restored, and the rates are those that were logged.",
        "older-generation": "A complete generation is there that is newer than the restored one.",
        "ahead-of-steps": "The schedule stands further on than the optimizer has stepped.",
        "rate-apart": "Rates after the restart are not those that were logged for the same steps.",
        "inconclusive": "Nothing was restored, so there is no position to read.",
    },
    decisive=tuple(
        Decisive(name, "linear") for name in ("restores", "generations_newer", "schedule_ahead", "rates_apart")
    ),
    deterministic=True,
    tells=("checkpoint",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "The same on any backend: print scheduler.last_epoch and get_last_lr() beside the step counter right after the "
        "restore, and plot the logged rate over the restart: a kink or a second warm-up is seen at once. Frameworks "
        "step the schedule for you: Accelerate's wrapped scheduler steps once a process unless split_batches is set, "
        "and a loop that steps it as well doubles that. Megatron rebuilds it from consumed samples unless "
        "--use-checkpoint-opt-param-scheduler or --override-opt-param-scheduler is given. Ask also which iteration was "
        "chosen: a sorted list of names puts iter_900 behind iter_1000."
    ),
)
