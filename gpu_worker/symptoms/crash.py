"""A job that ended around a save: where its log ends, and which save was the last to begin."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import Decisive, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind


def read(run: WholeRun, before: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """From the log alone, before anybody has looked into the storage."""
    kept = _checkpoint.recorded(run, "save")
    last, save = kept["steps"][-1]["step"], kept["saves"][-1]["step"]
    readings = {
        "last_step": Reading(last, "count", "Last step in the log"),
        "save_step": Reading(save, "count", "Step at which the last save began"),
        "steps_after_save": Reading(last - save, "count", "Steps in the log after that save"),
    }
    rows = (("last step in the log", last), ("last save begun at step", save))
    return ProbeResult(readings, {"symptom": Series(("what", "step"), ("text", "count"), rows)})


def classify(values: Mapping[str, float]) -> str:
    """A count: whether the log goes on behind the last save."""
    return "ran-on" if values["steps_after_save"] >= 1 else "ended-with-the-save"


SYMPTOM = SymptomKind(
    id="crash",
    title="Symptom",
    experiment="save",
    findings={
        "ended-with-the-save": "The log ends at the step of the last save.",
        "ran-on": "The log goes on behind the last save.",
    },
    decisive=(Decisive("steps_after_save", "linear"),),
    deterministic=True,
    read=read,
    classify=classify,
    shown={"last_step": ("last_step", "count"), "save_step": ("save_step", "count")},
)
