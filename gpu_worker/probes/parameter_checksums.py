"""Checksums of parameters and optimizer moments right after the restore, against those logged at the save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _checkpoint
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

WORDS = {"parameter": "parameters", "moment": "optimizer moments"}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """At the saved world size, by the rank that held each part at the save."""
    kept = _checkpoint.recorded(run, "resume-replay")
    own = _checkpoint.at_saved_size(kept)
    rows = tuple(
        (WORDS[one["kind"]], f"rank {one['part']}", one["tensors"], one["differ"], one["norm_apart"])
        for one in sorted(own["checksums"], key=lambda one: (one["kind"] == "moment", one["part"]))
    )
    ranks = sorted({row[1] for row in rows if row[3]})
    elsewhere = [r for r in kept["resumes"] if r is not own and not r["error"] and any(map(_differs, r["checksums"]))]
    readings = {
        "tensors": Reading(sum(row[2] for row in rows), "count", "Parts of tensors compared"),
        "parameters_apart": Reading(_apart(rows, "parameter"), "count", "Parts of parameters that differ"),
        "moments_apart": Reading(_apart(rows, "moment"), "count", "Parts of moments that differ"),
        "ranks_apart": Reading(", ".join(ranks) or "none", "text", "Ranks whose saved parts differ"),
        "largest_apart": Reading(max((row[4] for row in rows), default=0.0), "ratio", "Largest difference of a norm"),
        "other_sizes_apart": Reading(len(elsewhere), "count", "Other world sizes at which sums differ"),
    }
    columns = ("kind", "held at the save by", "parts of tensors", "differ", "largest relative difference of a norm")
    caption = "SHA-256 of each part's bytes, logged at the save and taken again right after the restore."
    table = Series(columns, ("text", "text", "count", "count", "ratio"), rows, caption)
    return ProbeResult(readings, {"parts": table})


def _differs(one: Mapping[str, Any]) -> bool:
    return bool(one["differ"])


def _apart(rows: tuple[tuple[Any, ...], ...], kind: str) -> int:
    return sum(row[3] for row in rows if row[0] == WORDS[kind])


def classify(values: Mapping[str, float]) -> str:
    """Counts: parameters first, since moments of another moment come with them."""
    if values["tensors"] < 1:
        return INCONCLUSIVE
    if values["parameters_apart"] >= 1:
        return "parameters-differ"
    return "moments-differ" if values["moments_apart"] >= 1 else "bit-exact"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Differing parts by the rank that held them, parameters and moments apart."""
    rows = result.series["parts"].rows
    if not rows:
        return {}
    labels = list(dict.fromkeys(row[1] for row in rows))
    traces = []
    for kind, role in (("parameter", "c1"), ("moment", "c2")):
        own = {row[1]: row for row in rows if row[0] == WORDS[kind]}
        shares = [100 * own[name][3] / own[name][2] if name in own else 0.0 for name in labels]
        said = [f"{name}: {own[name][3]} of {own[name][2]} {WORDS[kind]} differ" for name in labels if name in own]
        traces.append(figures.bars(WORDS[kind], role, labels, shares, said))
    alt = f"Share of tensors that differ after the restore, by rank; ranks: {result.readings['ranks_apart'].value}"
    x = figures.numbers("differing tensors, %", high=105)
    return figures.frame(traces, alt=alt, rows=max(4, 2 * len(labels)), x=x, y=figures.names(labels), barmode="group")


PROBE = Probe(
    id="parameter-checksums",
    title="Parameter checksums",
    group="Checkpoint",
    question="Are parameters and optimizer moments after the restore those that were saved?",
    price_min=8,
    stops_job=False,
    parameters={},
    experiment=_checkpoint.on_replay,
    findings={
        "bit-exact": "Every part of every parameter and moment is bit by bit what was saved.",
        "parameters-differ": "Some parameters are not those that were saved.",
        "moments-differ": "Parameters are those that were saved, and optimizer moments are not.",
        "inconclusive": "Nothing was restored for which checksums had been logged.",
    },
    decisive=tuple(Decisive(name, "linear") for name in ("tensors", "parameters_apart", "moments_apart")),
    deterministic=True,
    tells=("checkpoint",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Log a checksum a tensor and rank when you save (torch.hash_tensor, or a sum of the bits viewed as integers, "
        "which is cheap on the device and free of rounding) and take it again after load, before the first step. "
        "Compare local shards at the same layout; at another one, gather or compare whole tensors. Data-parallel "
        "replicas must agree among themselves as well: an all-gather of one number a rank shows a rank that does not, "
        "as Megatron's --check-weight-hash-across-dp-replicas-interval does. Include moments and FP32 master weights: "
        "they are most of a checkpoint and the first to be lost. One rank's parts alone point to its file."
    ),
)
