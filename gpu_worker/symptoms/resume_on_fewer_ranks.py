"""A run that goes on from a checkpoint on fewer ranks than had saved it, and does not come back as it was."""

from __future__ import annotations

from gpu_worker.probes.base import ProbeResult
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import _resume, resume
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind


def read(run: WholeRun, before: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """At the smallest world size that was tried: there sums are taken in another order, and losses have a tolerance."""
    kept = _resume.kept_by(run)
    return resume.compared(kept, _resume.on_fewest_ranks(kept))


SYMPTOM = SymptomKind(
    id="resume-on-fewer-ranks",
    title="Symptom",
    experiment="resume-replay",
    findings=resume.FINDINGS,
    decisive=resume.DECISIVE,
    deterministic=True,
    read=read,
    classify=resume.classify,
    # No losses: a restart that is refused has none, and the brief reads the same under every cause.
    shown={name: resume.SHOWN[name] for name in ("steps_due", "steps_on_curve")},
    left="share_on_curve",
    left_words="repeated steps that come out on the logged curve",
)
