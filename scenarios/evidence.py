"""Evidence: a chosen step, the run that answers it, and what a candidate sees of it.

The answer rule looks at nominal times and the queue only, so that neither a wait nor the label live or banked tells the
cause. Once a run has answered an experiment for an owner, every later step on that experiment reads the same run.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gpu_worker import experiments
from gpu_worker.models import Evidence
from scenarios.evidence_answer import NO_RESULT, SLOWER_THAN_PLANNED, TAKEN_UP_AGAIN, run_behind, settle
from scenarios.evidence_request import (
    BadParameter,
    TooManyPending,
    UnknownStep,
    open_for,
    request,
    state_after,
)
from scenarios.evidence_view import EvidenceView, build_view
from scenarios.symptom import SymptomView, symptom

__all__ = [
    "NO_RESULT",
    "SLOWER_THAN_PLANNED",
    "TAKEN_UP_AGAIN",
    "BadParameter",
    "EvidenceView",
    "SymptomView",
    "TooManyPending",
    "UnknownStep",
    "open_for",
    "progress",
    "request",
    "settle",
    "state_after",
    "symptom",
    "view",
]


def progress(evidence: Evidence, *, now: datetime) -> dict[str, Any]:
    """`{share, seconds_left, live, text}` of a pending step: from its nominal times alone."""
    whole_s = (evidence.ready_at - evidence.requested_at).total_seconds()
    left_s = max(0.0, (evidence.ready_at - now).total_seconds())
    share = 1.0 if whole_s <= 0 else min(1.0, 1 - left_s / whole_s)
    return {"share": share, "seconds_left": left_s, "live": evidence.live, "text": progress_text(evidence, left_s)}


def progress_text(evidence: Evidence, left_s: float) -> str:
    if not evidence.live:
        return "Reading the bank"
    if left_s <= 0:
        return "Reading what the lab measured"
    nominal_s = experiments.nominal_s(evidence.experiment)
    doing = "Measuring on the lab" if left_s <= nominal_s else "Waiting for the lab"
    return f"{doing}, about {left_s:.0f} s left"


def view(evidence: Evidence) -> EvidenceView:
    """What a candidate sees of shown evidence, a pure function of the stored run. ValueError before it is shown."""
    if evidence.shown_at is None:
        raise ValueError("this evidence is not shown yet; settle it first")
    return build_view(evidence, run_behind(evidence))
