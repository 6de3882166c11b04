"""A restart on fewer ranks whose samples are not those that were due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import Decisive, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import _resume
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind

MOST = 0.6  # of the samples: a restart from one generation further back reads a half of them again


def read(run: WholeRun, before: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """The first samples after the restart against those that follow the newest complete save in the log."""
    kept = _resume.kept_by(run)
    logged = _resume.due_steps(kept)
    repeated = _resume.on_fewest_ranks(kept)["steps"][: len(logged)]
    due = Counter(document for step in logged for document in _checkpoint.documents(step))
    read_now = Counter(document for step in repeated for document in _checkpoint.documents(step))
    total, others = read_now.total(), (read_now - due).total()
    share = others / total if total else 1.0
    readings = {
        "samples_read": Reading(total, "count", "Samples of the first steps after the restart"),
        "samples_not_due": Reading(others, "count", "Of these, not due then, or more often than due"),
        "share_not_due": Reading(share, "share", "Share of them that was not due"),
        "share_due": Reading(1 - share, "share", "Share of them that was due"),
    }
    rows = (("due", due.total()), ("read", total), ("read and not due", others))
    return ProbeResult(readings, {"symptom": Series(("samples", "number"), ("text", "count"), rows)})


def classify(values: Mapping[str, float]) -> str:
    """By the share of the samples that was not due."""
    share = values["share_not_due"]
    if share <= 0:
        return "as-due"
    return "most-not-due" if share >= MOST else "some-not-due"


SYMPTOM = SymptomKind(
    id="samples",
    title="Symptom",
    experiment="resume-replay",
    findings={
        "most-not-due": "Most samples after the restart are not those that were due.",
        "some-not-due": "Some samples after the restart are not those that were due.",
        "as-due": "The samples after the restart are those that were due.",
    },
    decisive=(Decisive("share_not_due", "linear"),),
    deterministic=True,
    read=read,
    classify=classify,
    shown={"samples_read": ("samples_read", "count"), "samples_not_due": ("samples_not_due", "count")},
    left="share_due",
    left_words="samples after the restart that were due",
)
