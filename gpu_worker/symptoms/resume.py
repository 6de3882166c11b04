"""A run that goes on from a checkpoint, and whose losses are not those of the run that it goes on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import Decisive, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import _resume
from gpu_worker.symptoms.base import HEALTHY_MFU, SymptomKind

# Relative, of a loss. Another order of sums moves the eighth digit; state that was lost moves the third or more.
ON_THE_CURVE = 1e-5
SMALLEST = 1e-12

Pair = tuple[Mapping[str, Any], Mapping[str, Any] | None]


def read(run: WholeRun, before: WholeRun, mfu_before: float = HEALTHY_MFU) -> ProbeResult:
    """At the world size that saved. The log of the run before its restart is what its losses are held against."""
    kept = _resume.kept_by(run)
    return compared(kept, _checkpoint.at_saved_size(kept))


def compared(kept: Mapping[str, Any], resumed: Mapping[str, Any]) -> ProbeResult:
    """Losses of the steps behind the checkpoint, as logged and after a restart."""
    pairs = [(logged, _resume.again(resumed, logged)) for logged in _resume.due_steps(kept)]
    on_curve = sum(is_on_the_curve(*pair) for pair in pairs)
    readings = {
        "steps_due": Reading(len(pairs), "count", "Steps that both runs should have"),
        "steps_on_curve": Reading(on_curve, "count", f"Of these, with a loss within {ON_THE_CURVE:g} of the logged"),
        "steps_off_curve": Reading(len(pairs) - on_curve, "count", "Of these, with another loss, or not run"),
        "share_on_curve": Reading(on_curve / max(len(pairs), 1), "share", "Share of them on the curve"),
        "share_exact": Reading(share_exact(pairs), "share", "Share of them that come out the same to the last bit"),
        **last_losses(pairs),
    }
    rows = tuple((logged["step"], logged["loss"], repeated and repeated["loss"]) for logged, repeated in pairs)
    table = Series(("step", "loss logged", "loss after the restart"), ("count", "ratio", "ratio"), rows)
    return ProbeResult(readings, {"symptom": table})


def is_on_the_curve(logged: Mapping[str, Any], repeated: Mapping[str, Any] | None) -> bool:
    if repeated is None:
        return False
    return bool(abs(repeated["loss"] - logged["loss"]) <= ON_THE_CURVE * max(abs(logged["loss"]), SMALLEST))


def share_exact(pairs: Sequence[Pair]) -> float:
    """Loss and gradient norm equal bit by bit; a step that overflowed has no norm."""
    names = ("loss", "gradient_norm")
    same = sum(again is not None and all(again[name] == logged[name] for name in names) for logged, again in pairs)
    return same / max(len(pairs), 1)


def last_losses(pairs: Sequence[Pair]) -> dict[str, Reading]:
    """The loss of the last step that both runs have, before and now; nothing where there is none."""
    both = [(logged, again) for logged, again in pairs if again is not None]
    if not both:
        return {}
    logged, repeated = both[-1]
    return {
        "last_step": Reading(logged["step"], "count", "The last step that both runs have"),
        "loss_before": Reading(logged["loss"], "ratio", "Its loss before the restart"),
        "loss_now": Reading(repeated["loss"], "ratio", "Its loss after the restart"),
    }


def classify(values: Mapping[str, float]) -> str:
    """A count: whether any step that both runs should have lies off the logged curve."""
    return "off-the-curve" if values["steps_off_curve"] >= 1 else "on-the-curve"


FINDINGS = {
    "off-the-curve": "Some step after the checkpoint has clearly another loss than logged, or could not be run again.",
    "on-the-curve": "Every step after the checkpoint has the loss that was logged, but for its last digits.",
}
DECISIVE = (Decisive("steps_off_curve", "linear"),)
SHOWN = {
    "steps_due": ("steps_due", "count"),
    "steps_on_curve": ("steps_on_curve", "count"),
    "last_step": ("last_step", "count"),
    "loss_before": ("loss_before", "loss"),
    "loss_now": ("loss_now", "loss"),
}

SYMPTOM = SymptomKind(
    id="resume",
    title="Symptom",
    experiment="resume-replay",
    findings=FINDINGS,
    decisive=DECISIVE,
    deterministic=True,
    read=read,
    classify=classify,
    shown=SHOWN,
    lines=(("loss of the last step that both runs have", "loss", "loss"),),
    left="share_exact",
    left_words="repeated steps that come out the same to the last bit",
)
