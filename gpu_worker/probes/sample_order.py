"""Which samples the job reads after its restart, against those that it logged for the same steps before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Sample ids as logged, over the steps run both times at the saved world size."""
    kept = _checkpoint.recorded(run, "resume-replay")
    own = _checkpoint.at_saved_size(kept)
    pairs = _checkpoint.pairs(kept, own)
    logged_at = {document: step["step"] for step in kept["steps"] for document in _checkpoint.documents(step)}
    rows = tuple(_row(before, after, logged_at) for before, after in pairs)
    elsewhere = [one for one in kept["resumes"] if one is not own and not one["error"] and _is_apart(kept, one)]
    read_again = sum(row[1] for row in rows)
    readings = {
        "steps_compared": Reading(len(pairs), "count", "Steps run both times"),
        "samples": Reading(read_again, "count", "Samples read in them after the restart"),
        "as_logged": Reading(sum(row[2] for row in rows), "count", "The same as logged for that step"),
        "apart": Reading(read_again - sum(row[2] for row in rows), "count", "Others than logged for that step"),
        "read_before": Reading(sum(row[3] for row in rows), "count", "Others, which an earlier step had read"),
        "never_logged": Reading(sum(row[4] for row in rows), "count", "Others, which no logged step had read"),
        "left_out": Reading(sum(row[6] for row in rows), "count", "Logged for that step, and not read in it"),
        "other_sizes_apart": Reading(len(elsewhere), "count", "Other world sizes at which samples are others"),
        "repeated": Reading(sum(row[5] for row in rows), "count", "Read by more than one rank in the same step"),
    }
    columns = (
        "step",
        "samples",
        "as logged",
        "read by an earlier step",
        "never logged",
        "repeated in the step",
        "left out",
    )
    caption = "Sample ids by step, over all ranks. Ranks whose log died with them are left out."
    return ProbeResult(readings, {"steps": Series(columns, ("count",) * 7, rows, caption)})


def _row(before: Mapping[str, Any], after: Mapping[str, Any], logged_at: Mapping[int, int]) -> tuple[Any, ...]:
    known, again = _checkpoint.documents(before), _checkpoint.documents(after)
    if None in before["documents"]:  # what that rank read is not known, and is no difference
        again = [document for document in again if document in known or document in logged_at]
    others = [document for document in again if document not in known]
    earlier = sum(logged_at.get(document, after["step"]) < after["step"] for document in others)
    never = sum(document not in logged_at for document in others)
    missed = len(set(known) - set(again))
    return after["step"], len(again), len(again) - len(others), earlier, never, len(again) - len(set(again)), missed


def _is_apart(kept: Mapping[str, Any], resumed: Mapping[str, Any]) -> bool:
    """Whether some step read others than logged; of a rank whose log died with it nothing is known."""
    pairs = [(before, after) for before, after in _checkpoint.pairs(kept, resumed) if None not in before["documents"]]
    return any(_checkpoint.documents(before) != _checkpoint.documents(after) for before, after in pairs)


def classify(values: Mapping[str, float]) -> str:
    """Counts: repeats first, since ranks that share positions also start over or skip."""
    if values["steps_compared"] < 1:
        return INCONCLUSIVE
    if values["repeated"] >= 1:
        return "repeated-across-ranks"
    if values["apart"] < 1:
        return _without_others(values)
    if values["read_before"] < 1:
        return "skips-ahead"
    return "another-order" if values["never_logged"] >= 1 else "starts-over"


def _without_others(values: Mapping[str, float]) -> str:
    """Every sample read had been logged for its step."""
    if values["left_out"] >= 1:
        return "fewer-a-step"
    return "other-at-other-sizes" if values["other_sizes_apart"] >= 1 else "as-logged"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Samples of each step by what the log says of them."""
    rows = result.series["steps"].rows
    if not rows:
        return {}
    labels = [f"step {row[0]}" for row in rows]
    parts = (("as logged", "c1", 2), ("read by an earlier step", "c5", 3), ("never logged", "c2", 4))
    traces = [
        figures.bars(name, role, labels, [row[at] for row in rows], [f"step {r[0]}: {r[at]} {name}" for r in rows])
        for name, role, at in parts
    ]
    alt = f"Samples by step after the restart; {say(result.readings['apart'].value, 'count')} are others than logged"
    return figures.frame(
        traces,
        alt=alt,
        rows=max(4, len(rows)),
        x=figures.numbers("samples"),
        y=figures.names(labels),
        barmode="stack",
    )


DECISIVE = (
    *("steps_compared", "repeated", "apart", "read_before"),
    *("never_logged", "left_out", "other_sizes_apart"),
)

PROBE = Probe(
    id="sample-order",
    title="Sample order",
    group="Checkpoint",
    question="Does the job read the same samples after its restart as it had logged for those steps?",
    price_min=6,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_replay,
    findings={
        "as-logged": "Every step reads the samples that had been logged for it.",
        "fewer-a-step": "Steps read some of the samples that had been logged for them, and no others.",
        "other-at-other-sizes": "At the saved number of ranks samples are as logged, at another number they are not.",
        "another-order": "Some samples had been read by earlier steps, and others that no logged step had reached.",
        "starts-over": "Steps after the restart read samples that earlier steps had read already.",
        "skips-ahead": "Steps after the restart read samples that no logged step had reached.",
        "repeated-across-ranks": "Several ranks read the same samples in one step, and other samples are not read.",
        "inconclusive": "No step was run both before and after the restart.",
    },
    decisive=tuple(Decisive(name, "linear") for name in DECISIVE),
    deterministic=True,
    tells=("checkpoint",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "The same on any backend: log the ids, or a hash of the tokens, of each batch a data-parallel rank, and "
        "compare by step, never by loss. Look at what the loader saves: torchdata's StatefulDataLoader has its state a "
        "rank, and needs a key a data-parallel rank in the checkpoint; Megatron passes consumed_train_samples to its "
        "sampler, which must really use it; Hugging Face skip_first_batches counts batches after sharding. At another "
        "data-parallel size states by rank no longer fit, and loaders that do not raise drop some of them silently."
    ),
)
