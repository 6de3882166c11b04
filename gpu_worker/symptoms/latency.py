"""All-reduces that take longer than they did: their mean and their 99th percentile, from the job's own run."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, quantiles

from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import slow_collective
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind

# One long step in four pulls the slowest hundredth to three times the mean and more; where all are slow alike it stays
# under twice. Healthy ones are short and wait for cores, so that theirs lie on both sides of the lower threshold.
ONE_PACE, LONG_TAIL = 2.0, 3.0


def read(run: WholeRun, baseline: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """What a slow collective tells, and mean and 99th percentile of every single all-reduce, on every rank."""
    (mean_before, p99_before), (mean_now, p99_now) = (_spread(one) for one in (baseline, run))
    readings = {
        **slow_collective.read(run, baseline, mfu_before).readings,
        "mean_s_before": Reading(mean_before, "s", "Mean of an all-reduce before"),
        "mean_s_now": Reading(mean_now, "s", "Mean of an all-reduce now"),
        "p99_s_before": Reading(p99_before, "s", "99th percentile of an all-reduce before"),
        "p99_s_now": Reading(p99_now, "s", "99th percentile of an all-reduce now"),
        "tail_ratio": Reading(p99_now / mean_now, "ratio", "99th percentile over mean now"),
    }
    rows = (("mean", mean_before, mean_now), ("99th percentile", p99_before, p99_now))
    caption = "Each all-reduce of each measured step, as each rank saw it."
    return ProbeResult(
        readings, {"symptom": Series(("all-reduce", "before", "now"), ("text", "s", "s"), rows, caption)}
    )


def _spread(run: WholeRun) -> tuple[float, float]:
    """Mean and 99th percentile, in seconds, of launch to done."""
    took = [end - start for rank in _job.job_ranks(run) for step in rank["steps"] for start, end in _job.flights(step)]
    return mean(took), quantiles(took, n=100, method="inclusive")[98]


def classify(values: Mapping[str, float]) -> str:
    """By the 99th percentile over the mean: a tail of a few is not the same as all of them slower."""
    return _job.band(values["tail_ratio"], low=ONE_PACE, high=LONG_TAIL, below="one-pace", above="long-tail")


SYMPTOM = SymptomKind(
    id="latency",
    title="Symptom",
    experiment="job",
    findings={
        "one-pace": "The slowest hundredth of the job's all-reduces takes less than twice their mean.",
        "long-tail": "The slowest hundredth of the job's all-reduces takes three times their mean and more.",
        INCONCLUSIVE: "The slowest hundredth of the job's all-reduces takes two to three times their mean.",
    },
    decisive=(Decisive("tail_ratio", "log"),),
    deterministic=False,
    read=read,
    classify=classify,
    shown={
        **slow_collective.SYMPTOM.shown,
        "mean_before": ("mean_s_before", "s"),
        "mean_now": ("mean_s_now", "s"),
        "p99_before": ("p99_s_before", "s"),
        "p99_now": ("p99_s_now", "s"),
    },
    lines=(
        ("mean of an all-reduce", "mean_s", "s"),
        ("99th percentile of an all-reduce", "p99_s", "s"),
        *slow_collective.SYMPTOM.lines,
    ),
    left=slow_collective.SYMPTOM.left,
    left_words=slow_collective.SYMPTOM.left_words,
)
