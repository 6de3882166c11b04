"""A job that got slow, and time inside its all-reduce: from the instance's own job run and its healthy baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind

# Healthy jobs, interleaved with computing, read 0.85 to 0.96 here; a straggler that costs a quarter reads 0.52.
BELOW, AT_FLOOR = 0.65, 0.78
SAMPLES = 1000


def read(run: WholeRun, baseline: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """MFU, time per 1,000 samples and time inside the collective a step, before and now.

    MFU before is the brief's; now it is scaled by the measured ratio of useful work a second, the only thing that the
    lab can measure of it. `collective_floor_ratio` decides the finding and is not among `SHOWN`: the floor is asked.
    """
    before, now = _pace(baseline), _pace(run)
    inside_before, inside_now = _job.collective_s(baseline), _job.collective_s(run)
    readings = {
        "mfu_before": Reading(mfu_before, "share", "MFU before"),
        "mfu_now": Reading(mfu_before * before / now, "share", "MFU now"),
        "work_ratio": Reading(before / now, "ratio", "Useful work a second now over before"),
        "step_s_before": Reading(before, "s", "Time per 1,000 samples before"),
        "step_s_now": Reading(now, "s", "Time per 1,000 samples now"),
        "collective_s_before": Reading(inside_before, "s", "Time inside the all-reduce a step before"),
        "collective_s_now": Reading(inside_now, "s", "Time inside the all-reduce a step now"),
        "collective_floor_ratio": Reading(
            _job.job_floor_s(run) / inside_now, "ratio", "Floor over time inside the all-reduce now"
        ),
    }
    rows = (
        ("MFU", mfu_before, mfu_before * before / now, "share"),
        ("time per 1,000 samples", before, now, "s"),
        ("time inside the all-reduce", inside_before, inside_now, "s"),
    )
    table = Series(
        ("quantity", "before", "now", "unit"), ("text", "number", "number", "text"), rows, "Medians over steps."
    )
    return ProbeResult(readings, {"symptom": table})


def _pace(run: WholeRun) -> float:
    """Seconds per 1,000 samples."""
    return SAMPLES * _job.step_s(run) / _job.samples_per_step(run)


def classify(values: Mapping[str, float]) -> str:
    """By floor over time inside the job's collective, which waits for late ranks too: stragglers read below."""
    below, above = "collective-below-floor", "collective-at-floor"
    return _job.band(values["collective_floor_ratio"], low=BELOW, high=AT_FLOOR, below=below, above=above)


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Before and now as bars, each quantity relative to its own before."""
    rows = list(result.series["symptom"].rows)
    labels = ["MFU", "time per<br>1,000 samples", "time inside<br>the all-reduce"]
    traces = [_bars("before", "c6", labels, rows, 1), _bars("now", "c1", labels, rows, 2)]
    alt = "; ".join(f"{row[0]} {say(row[1], row[3])} before, {say(row[2], row[3])} now" for row in rows)
    high = 1.25 * max(row[2] / row[1] for row in rows)
    x = figures.numbers("relative to before", high=max(1.5, high))
    return figures.frame(traces, alt=alt, rows=6, x=x, y=figures.names(labels), barmode="group")


def _bars(name: str, role: str, labels: list[str], rows: list[tuple[Any, ...]], at: int) -> dict[str, Any]:
    texts = [say(row[at], row[3]) for row in rows]
    said = [f"{row[0]} {name}: {text}" for row, text in zip(rows, texts, strict=True)]
    return figures.bars(name, role, labels, [row[at] / row[1] for row in rows], said, **figures.written(texts))


SHOWN = ("mfu_before", "mfu_now", "step_s_before", "step_s_now", "collective_s_before", "collective_s_now")

SYMPTOM = SymptomKind(
    id="slow-collective",
    title="Symptom",
    experiment="job",
    findings={
        "collective-at-floor": "The job's all-reduce takes about as long as its bytes need.",
        "collective-below-floor": "The job's all-reduce takes clearly longer than its bytes need.",
        INCONCLUSIVE: "The job's all-reduce takes somewhat longer than its bytes need.",
    },
    decisive=(Decisive("collective_floor_ratio", "log"),),
    deterministic=False,
    read=read,
    classify=classify,
    shown={
        "mfu_before": ("mfu_before", "share"),
        "mfu_now": ("mfu_now", "share"),
        "work_ratio": ("work_ratio", "share"),
        "step_before": ("step_s_before", "s"),
        "step_now": ("step_s_now", "s"),
        "collective_before": ("collective_s_before", "s"),
        "collective_now": ("collective_s_now", "s"),
    },
    lines=(
        ("model FLOPs utilisation", "mfu", "share"),
        ("time per 1,000 samples", "step_s", "s"),
        ("inside the all-reduce, a step", "collective_s", "s"),
    ),
    left="work_ratio",
    left_words="useful work",
)
