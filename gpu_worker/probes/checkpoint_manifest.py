"""Which generations lie in the storage, which files they have, and whether these are as long as they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.checkpoints.shape import STAGING
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

MEGABYTE = 1e6
MISSING, SHORT, BEYOND, WHOLE, UNKNOWN = "missing", "short", "not named by the mark", "as named", "no mark to compare"


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Names and sizes alone; nothing is opened but the commit mark, which lists what lies where."""
    generations = _checkpoint.recorded(run, "save")["generations"]
    newest = _checkpoint.newest(generations)
    files = newest["files"] if newest else []
    readings = {
        "generations": Reading(len(generations), "count", "Generations in the storage"),
        "newest": Reading(newest["folder"] if newest else "none", "text", "Folder of the newest"),
        "newest_bytes": Reading(sum(one["bytes"] or 0 for one in files), "B", "Bytes in the newest"),
        "unfinished": Reading(
            sum(one["folder"].endswith(STAGING) for one in generations), "count", "Folders of unfinished saves"
        ),
        "unmarked": Reading(sum(not one["marked"] for one in generations), "count", "Generations without commit mark"),
        "files_missing": Reading(_count(newest, MISSING), "count", "Files of the newest that are missing"),
        "files_empty": Reading(
            sum(one["bytes"] == 0 for one in files), "count", "Files of the newest that have no bytes"
        ),
        "files_short": Reading(_count(newest, SHORT), "count", "Files of the newest shorter than its mark says"),
        "files_beyond": Reading(_count(newest, BEYOND), "count", "Files of the newest that its mark does not name"),
    }
    rows = tuple(_row(one, file) for one in generations for file in one["files"])
    columns = ("generation", "file", "bytes", "bytes by the commit mark", "state")
    caption = "Names and sizes as the storage lists them, against the commit mark, which is written last."
    return ProbeResult(readings, {"files": Series(columns, ("text", "text", "B", "B", "text"), rows, caption)})


def _count(generation: Mapping[str, Any] | None, state: str) -> int:
    return sum(_state(generation, file) == state for file in generation["files"]) if generation else 0


def _state(generation: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    if not generation["marked"]:
        return UNKNOWN
    if file["expected"] is None:
        return BEYOND
    if file["bytes"] is None:
        return MISSING
    return SHORT if file["bytes"] < file["expected"] else WHOLE


def _row(generation: Mapping[str, Any], file: Mapping[str, Any]) -> tuple[Any, ...]:
    return generation["folder"], file["name"], file["bytes"], file["expected"], _state(generation, file)


def classify(values: Mapping[str, float]) -> str:
    """Counts, the worst first."""
    if values["generations"] < 1:
        return INCONCLUSIVE
    for reading, finding in FINDINGS_BY_COUNT.items():
        if values[reading] >= 1:
            return finding
    return "complete"


FINDINGS_BY_COUNT = {
    "unfinished": "unfinished-save",
    "unmarked": "no-commit-mark",
    "files_missing": "files-missing",
    "files_empty": "files-empty",
    "files_short": "files-short",
    "files_beyond": "files-beyond",
}


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Bytes of each file as a bar; what its commit mark says as a stroke."""
    rows = result.series["files"].rows
    labels = [f"{row[0]} {row[1]}" for row in rows]
    said = [f"{row[0]}, {row[1]}: {say(row[2], 'B')}, {row[4]}" for row in rows]
    traces = [figures.bars("on the disk", "c1", labels, [(row[2] or 0) / MEGABYTE for row in rows], said)]
    named = [(label, row) for label, row in zip(labels, rows, strict=True) if row[3] is not None]
    if named:
        marks = [f"{row[0]}, {row[1]}: {say(row[3], 'B')} by the commit mark" for _, row in named]
        sizes = [row[3] / MEGABYTE for _, row in named]
        traces.append(figures.ticks("by the commit mark", [label for label, _ in named], sizes, marks, size=14))
    odd = sum(row[4] != WHOLE for row in rows)
    alt = f"Bytes of {len(rows)} files in {result.readings['generations'].value} generations; {odd} not as named"
    height = max(4, round(0.7 * len(rows)))
    return figures.frame(traces, alt=alt, rows=height, x=figures.numbers("MB"), y=figures.names(labels))


PROBE = Probe(
    id="checkpoint-manifest",
    title="Checkpoint manifest",
    group="Checkpoint",
    question="Which generations are there, and are all of their files?",
    price_min=4,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_save,
    findings={
        "complete": "Every generation has its commit mark, and the newest has exactly the files that it names.",
        "unfinished-save": "A save was begun and never finished; its folder has no commit mark.",
        "no-commit-mark": "A generation of that name has files but no commit mark.",
        "files-missing": "The newest generation's commit mark names files that are not there.",
        "files-empty": "Files of the newest generation are there and have no bytes.",
        "files-short": "Files of the newest generation are shorter than its commit mark says.",
        "files-beyond": "The newest generation's folder holds files that its commit mark does not name.",
        "inconclusive": "There is no generation in the storage.",
    },
    decisive=tuple(Decisive(name, "linear") for name in ("generations", *FINDINGS_BY_COUNT)),
    deterministic=True,
    tells=("checkpoint",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "The same on any backend: torch.distributed.checkpoint renames .metadata into place last, so a folder without "
        "it does not count; python -m torch.distributed.checkpoint.format_utils and a FileSystemReader's "
        "read_metadata() list what lies where. On an object store list with versions (aws s3api "
        "list-object-versions): a listing may lag, uploads are done in parts, and a part upload that was cut stays "
        "invisible. Megatron's tracker file latest_checkpointed_iteration.txt plays the commit mark's part there. "
        "Sizes cannot tell a file of an older generation from one of this."
    ),
)
