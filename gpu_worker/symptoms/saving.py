"""A job that stands still for its saves more than it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.probes import _checkpoint, _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind

# Healthy runs of one setting lie within a few percent of each other.
STALLS, AS_BEFORE = 0.87, 0.94


def read(run: WholeRun, before: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """Of the same experiment without the fault and with it: time that training stood still, and time in all, a step."""
    (then_s, then_share), (now_s, now_share) = (_cost(_checkpoint.recorded(one, "save")) for one in (before, run))
    readings = {
        "stall_share_before": Reading(then_share, "share", "Time that training stood still for saves before"),
        "stall_share_now": Reading(now_share, "share", "Time that training stands still for saves now"),
        "step_s_before": Reading(then_s, "s", "Time a step, saves included, before"),
        "step_s_now": Reading(now_s, "s", "Time a step, saves included, now"),
        "work_ratio": Reading(then_s / now_s, "ratio", "Steps a second now over before, saves included"),
    }
    rows = (("time that training stood still", then_share, now_share), ("time a step", then_s, now_s))
    return ProbeResult(readings, {"symptom": Series(("what", "before", "now"), ("text", "number", "number"), rows)})


def _cost(kept: Mapping[str, Any]) -> tuple[float, float]:
    """(seconds a step with all that saving took, share of the time that training stood still)."""
    still_s = sum(
        max(one["pause_s"] + one.get("waited_s", 0.0) for one in save["by_rank"] if one is not None)
        for save in kept["saves"]
    )
    whole_s = still_s + sum(step["seconds"] for step in kept["steps"])
    return whole_s / len(kept["steps"]), still_s / whole_s


def classify(values: Mapping[str, float]) -> str:
    """By steps a second, saves included, now over before."""
    return _job.band(values["work_ratio"], low=STALLS, high=AS_BEFORE, below="stalls", above="as-before")


SYMPTOM = SymptomKind(
    id="saving",
    title="Symptom",
    experiment="save",
    findings={
        "stalls": "The job makes clearly fewer steps a second than before once saves are counted.",
        "as-before": "The job makes as many steps a second as before, saves included.",
        INCONCLUSIVE: "The job makes somewhat fewer steps a second than before.",
    },
    decisive=(Decisive("work_ratio", "log"),),
    deterministic=False,
    read=read,
    classify=classify,
    shown={
        "stall_before": ("stall_share_before", "share"),
        "stall_now": ("stall_share_now", "share"),
        "step_before": ("step_s_before", "s"),
        "step_now": ("step_s_now", "s"),
    },
    lines=(
        ("training stands still for saves", "stall_share", "share"),
        ("time a step, saves included", "step_s", "s"),
    ),
    left="work_ratio",
    left_words="steps a second, saves included,",
)
