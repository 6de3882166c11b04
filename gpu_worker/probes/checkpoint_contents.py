"""What kinds of state the newest generation holds, whether all of it can be read, and from which step it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.checkpoints.shape import KINDS
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

# The kinds that are forgotten one by one, each with its finding.
MISSING: Mapping[str, str] = {
    "optimizer": "moments-missing",
    "scheduler": "schedule-missing",
    "sampler": "samples-missing",
    "rng": "random-state-missing",
    "scaler": "scale-missing",
}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Of the newest generation with a commit mark: entries and bytes by kind, and the steps that they speak of."""
    generations = _checkpoint.recorded(run, "save")["generations"]
    newest = _checkpoint.newest(generations, marked=True)
    held: Mapping[str, Any] = newest["kinds"] if newest else {}
    missing = [kind for kind in KINDS if kind not in held] if newest else []
    places = {key: at for key, at in newest["positions"].items() if _is_a_count(key)} if newest else {}
    apart = [key for key, at in places.items() if newest and at != newest["step"]]
    readings = {
        "read": Reading(newest["folder"] if newest else "none", "text", "Generation that was read"),
        "generations_read": Reading(int(newest is not None), "count", "Generations read"),
        "kinds_missing": Reading(len(missing), "count", "Kinds of state that are missing"),
        "missing": Reading(", ".join(missing) or "none", "text", "Missing"),
        "entries": Reading(sum(one["entries"] for one in held.values()), "count", "Entries"),
        **{f"lacks_{kind}": Reading(int(kind in missing), "count", f"Without {KINDS[kind]}") for kind in MISSING},
        "unreadable": Reading(newest["unreadable"] if newest else 0, "count", "Entries that cannot be read"),
        "positions_apart": Reading(len(apart), "count", "Counters and positions of another step than the folder's"),
        "steps_told": Reading(_told(places.values()), "text", "Steps that counters and positions speak of"),
    }
    rows = tuple(
        (kind, what, held.get(kind, {}).get("entries", 0), held.get(kind, {}).get("bytes", 0), _first_key(held, kind))
        for kind, what in KINDS.items()
    )
    kinds = Series(
        ("kind", "what it is", "entries", "bytes", "first key"),
        ("text", "text", "count", "B", "text"),
        rows,
        "From the commit mark and the entries themselves; values of tensors are not compared with anything.",
    )
    steps = Series(
        ("entry", "step"),
        ("text", "count"),
        tuple(sorted(newest["positions"].items())) if newest else (),
        "Entries that say how far the job had come when they were saved, as they say it.",
    )
    return ProbeResult(readings, {"kinds": kinds, "positions": steps})


def _is_a_count(key: str) -> bool:
    return key == "trainer.step" or key.endswith(".consumed")


def _told(steps: Any) -> str:
    return ", ".join(str(step) for step in sorted(set(steps))) or "none"


def _first_key(held: Mapping[str, Any], kind: str) -> str:
    return str(held[kind]["first_key"]) if kind in held else "–"


def classify(values: Mapping[str, float]) -> str:
    """Counts, the worst first."""
    if values["generations_read"] < 1:
        return INCONCLUSIVE
    if values["unreadable"] >= 1:
        return "unreadable"
    if values["positions_apart"] >= 1:
        return "steps-mixed"
    if values["kinds_missing"] < 1:
        return "complete"
    alone = [finding for kind, finding in MISSING.items() if values[f"lacks_{kind}"] >= 1]
    return alone[0] if values["kinds_missing"] == len(alone) == 1 else "state-missing"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Entries of each kind: a kind without a bar is not there."""
    rows = result.series["kinds"].rows
    labels = [row[1] for row in rows]
    said = [f"{row[1]}: {row[2]} entries, {say(row[3], 'B')}" for row in rows]
    texts = [say(row[3], "B") if row[2] else "none" for row in rows]
    bar = figures.bars(
        "entries", "c1", labels, [row[2] for row in rows], said, showlegend=False, **figures.written(texts)
    )
    alt = f"Entries by kind of state in {result.readings['read'].value}; missing: {result.readings['missing'].value}"
    high = 1.35 * max([row[2] for row in rows] + [1])
    x = figures.numbers("entries", high=high)
    return figures.frame([bar], alt=alt, rows=len(rows), x=x, y=figures.names(labels))


PROBE = Probe(
    id="checkpoint-contents",
    title="Checkpoint contents",
    group="Checkpoint",
    question="What does the newest checkpoint hold, and of which step is it?",
    price_min=5,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_save,
    findings={
        "complete": "Every kind of state is there, can be read, and speaks of the same step.",
        "moments-missing": "The optimizer's moments are not in the checkpoint, everything else is.",
        "schedule-missing": "The schedule's position is not in the checkpoint, everything else is.",
        "samples-missing": "Positions in the data are not in the checkpoint, everything else is.",
        "random-state-missing": "Random states are not in the checkpoint, everything else is.",
        "scale-missing": "The loss scale is not in the checkpoint, everything else is.",
        "state-missing": "Another kind of state is not in the checkpoint, or several are not.",
        "unreadable": "Some entries cannot be read.",
        "steps-mixed": "Counters and positions in the checkpoint are of different steps.",
        "inconclusive": "No generation has a commit mark, so nothing could be read.",
    },
    decisive=tuple(
        Decisive(name, "linear")
        for name in (
            *("generations_read", "unreadable", "positions_apart", "kinds_missing"),
            *(f"lacks_{kind}" for kind in MISSING),
        )
    ),
    deterministic=True,
    tells=("checkpoint", "generation"),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "The same on any backend. FileSystemReader(path).read_metadata().state_dict_metadata lists every key with "
        "shape and chunks without reading a tensor; dcp_to_torch_save makes one file of it to look into. Ask for each "
        "kind by name: parameters, optimizer moments (by parameter name, not by number), schedule, loss scaler, "
        "dataloader or sampler state a data-parallel rank, random states a rank (torch, CUDA, NumPy, Python), step, "
        "configuration and versions. A loader told to allow partial loads will not miss what is not there. In "
        "Megatron common.pt and the args in it hold the small state; DeepSpeed keeps moments in zero_pp_rank files."
    ),
)
