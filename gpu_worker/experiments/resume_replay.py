"""Save, go on, restore at several world sizes, and go over the same steps again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_worker.checkpoints.shape import SHARDS
from gpu_worker.experiments._checkpoint import JOB, RESUME, joined_steps, packed, saved, saving_phases
from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.jobs.records import DIGITS_S

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

SAVES = (8, 10)  # whose names sort the other way round than their steps
LAST_STEP = 14


def phases(setup: Setup) -> tuple[Phase, ...]:
    saving = saving_phases(setup, "narrow", SAVES, LAST_STEP, sums=True, restored=True)
    ranks = len(setup.hosts)
    job = next(phase for phase in saving if phase.name == JOB)
    arguments = {**job.arguments, "parts": ranks, "first_weights": 1}
    same = Phase(f"resume-{ranks}", setup.hosts, setup.job, RESUME, fed=True, stored=True, arguments=arguments)
    others = [other for other in (ranks // 2, 2 * ranks) if 2 <= other <= SHARDS]
    return (*saving, same, *(packed(setup, f"resume-{other}", other, RESUME, arguments) for other in others))


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`resumes`: one a world size, the saved one first: {ranks, restored, error, seconds, at, steps,
    checksums}."""
    kept = saved(raw)
    sums = kept.pop("checksums")
    resumes = [_resume(phase, sums) for phase in raw["phases"] if phase["name"].startswith("resume-")]
    return {"recorded": {**kept, "resumes": resumes}}


def _resume(phase: Mapping[str, Any], sums: Mapping[int, Any]) -> dict[str, Any]:
    ranks, first = phase["ranks"], phase["ranks"][0]
    failed = next((rank["error"] for rank in ranks if rank["error"]), None)
    logged = [] if failed else sums.get(first["at"]["step"], [])
    return {
        "ranks": len(ranks),
        "restored": first["restored"],
        "error": failed,
        "seconds": round(max(rank["seconds"] for rank in ranks), DIGITS_S),
        "at": first.get("at"),
        "steps": [] if failed else joined_steps(ranks),
        "checksums": [] if failed else compared(first["checksums"], logged),
    }


def compared(restored: Sequence[Mapping[str, Any]], logged: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Checksums right after the restore against those that were logged at the save, by kind and saving rank's part:
    {kind, part, tensors, differ, norm_apart (largest relative difference of a norm)}.
    """
    before = {(one["kind"], one["name"], one["part"]): one for one in logged}
    groups: dict[tuple[str, int], dict[str, Any]] = {}
    for one in restored:
        then = before.get((one["kind"], one["name"], one["part"]))
        if then is None:
            continue
        group = groups.setdefault(
            (one["kind"], one["part"]),
            {"kind": one["kind"], "part": one["part"], "tensors": 0, "differ": 0, "norm_apart": 0.0},
        )
        group["tensors"] += 1
        group["differ"] += one["sum"] != then["sum"]
        apart = abs(one["norm"] - then["norm"]) / max(then["norm"], 1e-12)
        group["norm_apart"] = max(group["norm_apart"], apart)
    return [groups[key] for key in sorted(groups)]


EXPERIMENT = Experiment(
    id="resume-replay",
    title="Save, go on, restore, go over the same steps again",
    nominal_s=12.0,
    choices={},
    phases=phases,
    record=record,
)
