"""The steps after a save, run a second time from the checkpoint: each quantity against its stated tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

# At the saved world size a replay repeats every bit. At another, sums are taken in another order: healthy losses then
# lie within 1e-7 of the logged ones, and gradient norms within 1e-8.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "learning rate": (0.0, 0.0),
    "samples": (0.0, 0.0),
    "loss": (0.0, 1e-5),
    "gradient norm": (0.0, 1e-5),
    "overflows": (0.0, 0.0),
    "parameters": (0.0, 0.0),
    "moments": (0.0, 0.0),
}
SMALLEST = 1e-12


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """For each world size the largest difference of each quantity, over the steps that were run both times."""
    kept = _checkpoint.recorded(run, "resume-replay")
    compared = [(resume, _differences(kept, resume)) for resume in kept["resumes"]]
    here = [(r, apart) for r, apart in compared if r["ranks"] == kept["ranks"]]
    elsewhere = [(r, apart) for r, apart in compared if r["ranks"] != kept["ranks"]]
    own, own_apart = here[0]
    steps = len(_checkpoint.pairs(kept, own))
    failing = _failing(own_apart, same=True)
    beyond = _failing(own_apart, same=False)
    refused = sum(r["error"] is not None for r, _ in elsewhere)
    failing_sizes = [r["ranks"] for r, apart in elsewhere if r["error"] or _failing(apart, same=False)]
    readings = {
        "saved_by": Reading(kept["ranks"], "count", "Ranks that saved"),
        "restored": Reading(own["restored"] or "nothing", "text", "Generation restored"),
        "refused": Reading(int(own["error"] is not None), "count", "Restores refused at the saved world size"),
        "error": Reading(_shortened(own["error"]), "text", "What the restore said"),
        "steps_compared": Reading(steps, "count", "Steps run both times"),
        "quantities_apart": Reading(len(failing), "count", "Quantities outside their tolerance"),
        "apart": Reading(", ".join(failing) or "none", "text", "Outside their tolerance"),
        "beyond_rounding": Reading(len(beyond), "count", "Of these, by more than the order of sums explains"),
        "settings_apart": Reading(_settings_apart(own["at"] or {}), "text", "Recorded settings that it runs otherwise"),
        "loss_apart": Reading(own_apart["loss"] if steps else 0.0, "ratio", "Largest relative difference of a loss"),
        "other_sizes_failing": Reading(len(failing_sizes), "count", "Other world sizes at which it does not replay"),
        "other_sizes_refused": Reading(refused, "count", "Other world sizes at which the restore is refused"),
        "restore_seconds": Reading(own["seconds"], "s", "Time to restore at the saved world size"),
    }
    rows = tuple(row for resume, apart in compared for row in _rows(kept, resume, apart))
    columns = ("ranks", "quantity", "largest difference", "tolerance", "verdict")
    caption = "Largest relative difference, or share of steps or tensors that differ. Step by step below."
    table = Series(columns, ("count", "text", "ratio", "ratio", "text"), rows, caption)
    return ProbeResult(readings, {"quantities": table, "steps": _steps(kept, own)})


def _settings_apart(at: Mapping[str, Any]) -> str:
    """What the checkpoint records of the job's settings and the restarted job has otherwise; older runs kept none."""
    recorded, now = at.get("recorded") or {}, at.get("settings") or {}
    return ", ".join(name for name in now if name in recorded and recorded[name] != now[name]) or "none"


def _differences(kept: Mapping[str, Any], resume: Mapping[str, Any]) -> dict[str, float]:
    pairs = _checkpoint.pairs(kept, resume)

    def largest(name: str) -> float:
        values = [(before[name], after[name]) for before, after in pairs if None not in (before[name], after[name])]
        return max((abs(a - b) / max(abs(b), SMALLEST) for b, a in values), default=0.0)

    def differing(what: Callable[[Mapping[str, Any]], Any]) -> float:
        return sum(what(before) != what(after) for before, after in pairs) / max(len(pairs), 1)

    return {
        "learning rate": largest("learning_rate"),
        "samples": sum(not _same_samples(*pair) for pair in pairs) / max(len(pairs), 1),
        "loss": largest("loss"),
        "gradient norm": largest("gradient_norm"),
        "overflows": differing(lambda step: step["overflow"]),
        "parameters": _tensors_apart(resume, "parameter"),
        "moments": _tensors_apart(resume, "moment"),
    }


def _same_samples(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the documents are the same; of a rank whose log died with it, only those of the others are known."""
    known, again = _checkpoint.documents(before), _checkpoint.documents(after)
    return set(known) <= set(again) if None in before["documents"] else known == again


def _tensors_apart(resume: Mapping[str, Any], kind: str) -> float:
    groups = [one for one in resume["checksums"] if one["kind"] == kind]
    return sum(one["differ"] for one in groups) / max(sum(one["tensors"] for one in groups), 1)


def _failing(apart: Mapping[str, float], *, same: bool) -> list[str]:
    return [name for name, value in apart.items() if value > TOLERANCES[name][0 if same else 1]]


def _rows(kept: Mapping[str, Any], resume: Mapping[str, Any], apart: Mapping[str, float]) -> list[tuple[Any, ...]]:
    if resume["error"]:
        return [(resume["ranks"], "restore", None, None, f"refused: {_shortened(resume['error'])}")]
    same = resume["ranks"] == kept["ranks"]
    return [
        (resume["ranks"], name, value, TOLERANCES[name][0 if same else 1], _verdict(name, value, same))
        for name, value in apart.items()
    ]


def _verdict(name: str, value: float, same: bool) -> str:
    limit = TOLERANCES[name][0 if same else 1]
    if value > limit:
        return "apart"
    return "bit by bit" if value == 0.0 else "within tolerance"


def _shortened(error: str | None) -> str:
    return (error or "none")[:160]


def _steps(kept: Mapping[str, Any], own: Mapping[str, Any]) -> Series:
    rows = tuple(
        (
            before["step"],
            *(step[name] for name in ("loss", "gradient_norm", "learning_rate") for step in (before, after)),
            "same" if _same_samples(before, after) else "others",
            "same" if before["overflow"] == after["overflow"] else "others",
        )
        for before, after in _checkpoint.pairs(kept, own)
    )
    names = ("loss", "gradient norm", "learning rate")
    columns = ("step", *(f"{name} {when}" for name in names for when in ("logged", "replayed")), "samples", "overflow")
    caption = "At the saved world size. A step that overflowed has no gradient norm."
    return Series(columns, ("count", *("ratio",) * 6, "text", "text"), rows, caption)


def classify(values: Mapping[str, float]) -> str:
    """Counts: refused, quantities apart here, nothing to compare, then refused and apart at other world sizes."""
    if values["refused"] >= 1:
        return "not-restored"
    if values["quantities_apart"] >= 1:
        return "diverges" if values["beyond_rounding"] >= 1 else "last-digits"
    if values["steps_compared"] < 1:
        return INCONCLUSIVE
    if values["other_sizes_refused"] >= 1:
        return "refused-at-others"
    return "only-at-this-size" if values["other_sizes_failing"] >= 1 else "replays"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Logged and replayed loss of each step."""
    rows = result.series["steps"].rows
    if not rows:
        return {}
    labels = [f"step {row[0]}" for row in rows]
    said = [f"step {row[0]}: loss {row[1]:.6f} logged, {row[2]:.6f} replayed" for row in rows]
    traces = [
        figures.bars("replayed", "c1", labels, [row[2] for row in rows], said),
        figures.ticks("logged", labels, [row[1] for row in rows], said),
    ]
    alt = f"Loss of {len(rows)} steps, logged and replayed; outside tolerance: {result.readings['apart'].value}"
    high = 1.1 * max(max(row[1], row[2]) for row in rows)
    return figures.frame(
        traces, alt=alt, rows=max(4, len(rows)), x=figures.numbers("loss", high=high), y=figures.names(labels)
    )


PROBE = Probe(
    id="resume-replay",
    title="Resume and replay",
    group="Checkpoint",
    question="Do the steps after the checkpoint come out the same when they are run again from it?",
    price_min=20,
    stops_job=True,
    parameters={},
    experiment=_checkpoint.on_replay,
    findings={
        "replays": "Every quantity is within its tolerance, at the saved world size and at others.",
        "last-digits": "It replays but for digits that another order of the same sums explains.",
        "refused-at-others": "It replays at the saved world size, and is refused at others.",
        "only-at-this-size": "It replays at the saved world size, and not at others.",
        "diverges": "At the saved world size some quantities come out otherwise.",
        "not-restored": "The checkpoint could not be restored at the world size that saved it.",
        "inconclusive": "No step was run both before and after the restart, so nothing could be compared.",
    },
    decisive=tuple(
        Decisive(name, "linear")
        for name in (
            *("refused", "quantities_apart", "beyond_rounding", "steps_compared"),
            *("other_sizes_refused", "other_sizes_failing"),
        )
    ),
    deterministic=True,
    tells=("checkpoint", "replay"),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Save at N, run on to N+k, restore and run N+1 to N+k again with the same batches. On GPUs bit-exactness needs "
        "torch.use_deterministic_algorithms(True), CUBLAS_WORKSPACE_CONFIG=:4096:8, deterministic attention kernels "
        "and the same NCCL algorithm and channels (NCCL_ALGO, NCCL_PROTO, same topology), or the order of sums "
        "changes; else state a tolerance before you look, about 1e-3 in BF16. Compare step by step: rate and sample "
        "ids first, as they are exact everywhere, then loss, gradient norm, skipped steps of the scaler. Loss alone "
        "hides lost moments for tens of steps. At another world size sums differ in the last digits even when healthy."
    ),
)
